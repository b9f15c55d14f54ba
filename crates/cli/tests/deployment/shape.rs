//! The fields of Kubernetes objects that are used here, by the names that its API has for them. A name that is not in this table
//! is misspelt, or new and to be looked up first: the API ignores what it does not know.

use serde_yaml_ng::Value;

/// A kind of mapping: what its fields are called, and what sort of mapping each is, if it is one or a list of them.
type Shape = (&'static str, &'static [(&'static str, &'static str)]);

const SHAPES: &[Shape] = &[
    ("Namespace", &[("apiVersion", ""), ("kind", ""), ("metadata", "metadata")]),
    (
        "Secret",
        &[("apiVersion", ""), ("kind", ""), ("metadata", "metadata"), ("type", ""), ("stringData", "*")],
    ),
    ("Service", &[("apiVersion", ""), ("kind", ""), ("metadata", "metadata"), ("spec", "service")]),
    ("Deployment", &[("apiVersion", ""), ("kind", ""), ("metadata", "metadata"), ("spec", "deployment")]),
    (
        "PodDisruptionBudget",
        &[("apiVersion", ""), ("kind", ""), ("metadata", "metadata"), ("spec", "budget")],
    ),
    (
        "TriggerAuthentication",
        &[("apiVersion", ""), ("kind", ""), ("metadata", "metadata"), ("spec", "authentication")],
    ),
    ("ScaledObject", &[("apiVersion", ""), ("kind", ""), ("metadata", "metadata"), ("spec", "scaled")]),
    ("metadata", &[("name", ""), ("namespace", ""), ("labels", "*"), ("annotations", "*")]),
    ("selector", &[("matchLabels", "*")]),
    ("service", &[("selector", "*"), ("ports", "service port")]),
    ("service port", &[("name", ""), ("port", ""), ("targetPort", ""), ("appProtocol", "")]),
    ("budget", &[("minAvailable", ""), ("maxUnavailable", ""), ("selector", "selector")]),
    (
        "deployment",
        &[("replicas", ""), ("strategy", "strategy"), ("selector", "selector"), ("template", "template")],
    ),
    ("strategy", &[("type", ""), ("rollingUpdate", "rolling")]),
    ("rolling", &[("maxUnavailable", ""), ("maxSurge", "")]),
    ("template", &[("metadata", "metadata"), ("spec", "pod")]),
    (
        "pod",
        &[
            ("automountServiceAccountToken", ""),
            ("terminationGracePeriodSeconds", ""),
            ("securityContext", "pod security"),
            ("topologySpreadConstraints", "spread"),
            ("containers", "container"),
            ("volumes", "volume"),
        ],
    ),
    (
        "pod security",
        &[
            ("runAsNonRoot", ""),
            ("runAsUser", ""),
            ("runAsGroup", ""),
            ("fsGroup", ""),
            ("seccompProfile", "typed"),
        ],
    ),
    ("typed", &[("type", "")]),
    (
        "spread",
        &[("maxSkew", ""), ("topologyKey", ""), ("whenUnsatisfiable", ""), ("labelSelector", "selector")],
    ),
    (
        "container",
        &[
            ("name", ""),
            ("image", ""),
            ("args", ""),
            ("env", "variable"),
            ("ports", "container port"),
            ("livenessProbe", "probe"),
            ("readinessProbe", "probe"),
            ("startupProbe", "probe"),
            ("resources", "resources"),
            ("securityContext", "container security"),
            ("volumeMounts", "mount"),
        ],
    ),
    ("variable", &[("name", ""), ("value", ""), ("valueFrom", "source")]),
    ("source", &[("fieldRef", "field"), ("secretKeyRef", "key")]),
    ("field", &[("fieldPath", "")]),
    ("key", &[("name", ""), ("key", "")]),
    ("container port", &[("name", ""), ("containerPort", "")]),
    ("probe", &[("httpGet", "get"), ("periodSeconds", ""), ("timeoutSeconds", ""), ("failureThreshold", "")]),
    ("get", &[("path", ""), ("port", "")]),
    ("resources", &[("requests", "*"), ("limits", "*")]),
    (
        "container security",
        &[("allowPrivilegeEscalation", ""), ("readOnlyRootFilesystem", ""), ("capabilities", "capabilities")],
    ),
    ("capabilities", &[("drop", "")]),
    ("mount", &[("name", ""), ("mountPath", ""), ("readOnly", "")]),
    ("volume", &[("name", ""), ("emptyDir", "empty")]),
    ("empty", &[("medium", ""), ("sizeLimit", "")]),
    ("authentication", &[("secretTargetRef", "target")]),
    ("target", &[("parameter", ""), ("name", ""), ("key", "")]),
    (
        "scaled",
        &[
            ("scaleTargetRef", "named"),
            ("minReplicaCount", ""),
            ("maxReplicaCount", ""),
            ("pollingInterval", ""),
            ("cooldownPeriod", ""),
            ("triggers", "trigger"),
        ],
    ),
    ("named", &[("name", "")]),
    ("trigger", &[("type", ""), ("metadata", "metrics-api"), ("authenticationRef", "named")]),
    ("metrics-api", &[("url", ""), ("valueLocation", ""), ("targetValue", ""), ("authMode", "")]),
];

/// Fields that the API does not know, with where they are.
pub(crate) fn unknown(value: &Value, shape: &str) -> Vec<String> {
    if let Some(list) = value.as_sequence() {
        return list.iter().flat_map(|item| unknown(item, shape)).collect();
    }
    let Some(mapping) = value.as_mapping().filter(|_| shape != "*") else { return Vec::new() };
    if shape.is_empty() {
        return vec![format!("{value:?} is a mapping where none belongs")];
    }
    let Some((_, fields)) = SHAPES.iter().find(|(name, _)| *name == shape) else {
        return vec![format!("nobody has said here what a {shape} is")];
    };
    let each = mapping.iter().flat_map(|(key, inner)| {
        let key = key.as_str().unwrap_or("?");
        match fields.iter().find(|(name, _)| *name == key) {
            Some((_, next)) => unknown(inner, next),
            None => vec![format!("{shape} has no field {key}")],
        }
    });
    each.collect()
}

#[test]
fn a_misspelt_field_is_found_at_any_depth() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: [{name: a, arg: []}]}}}\n";
    let value: Value = serde_yaml_ng::from_str(text).unwrap();
    assert_eq!(unknown(&value, "Deployment"), ["container has no field arg"]);
    assert_eq!(unknown(&value, "Pod").len(), 1);
}
