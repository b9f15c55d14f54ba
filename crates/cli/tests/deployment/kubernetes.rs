//! `deploy/kubernetes`, without a cluster: the objects have only fields that there are, fit together, are confined, and what they run
//! and ask is understood by the real binary.

use std::process::Command;

use serde_yaml_ng::Value;

use crate::common::{Instance, stderr};
use crate::files::{are_settings, documents, is_a_command, keys, root, text, texts};
use crate::shape::unknown;

const FILES: [&str; 5] = ["namespace", "secret", "server", "worker", "scaled-object"];
/// In which version of the API each kind is.
const KINDS: [(&str, &str); 7] = [
    ("Namespace", "v1"),
    ("Secret", "v1"),
    ("Service", "v1"),
    ("Deployment", "apps/v1"),
    ("PodDisruptionBudget", "policy/v1"),
    ("TriggerAuthentication", "keda.sh/v1alpha1"),
    ("ScaledObject", "keda.sh/v1alpha1"),
];

fn objects() -> Vec<Value> {
    FILES.iter().flat_map(|name| documents(&format!("deploy/kubernetes/{name}.yaml"))).collect()
}

fn of_kind<'a>(objects: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    objects.iter().filter(move |object| object["kind"] == kind)
}

fn named<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

fn pod(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["spec"]
}

/// Every label of a selector is on the pods.
fn selects(selector: &Value, deployment: &Value) -> bool {
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    !keys(selector).is_empty()
        && keys(selector).iter().all(|key| labels[key.as_str()] == selector[key.as_str()])
}

#[test]
fn every_object_is_of_a_known_kind_and_has_only_fields_that_there_are() {
    let objects = objects();
    for object in &objects {
        let kind = text(object, &["kind"]);
        assert!(
            KINDS.contains(&(kind, text(object, &["apiVersion"]))),
            "{kind} is in another version of the API"
        );
        assert_eq!(unknown(object, kind), Vec::<String>::new(), "{kind} {:?}", object["metadata"]["name"]);
        if kind != "Namespace" {
            assert_eq!(text(object, &["metadata", "namespace"]), "ganger", "{kind}");
        }
    }
    for (kind, _) in KINDS {
        assert!(of_kind(&objects, kind).next().is_some(), "there is no {kind}");
    }
    let listed = texts(&documents("deploy/kubernetes/kustomization.yaml")[0]["resources"]);
    for name in listed {
        assert!(FILES.iter().any(|file| format!("{file}.yaml") == name), "{name} is not looked at here");
    }
}

#[test]
fn kubectl_puts_the_objects_together_where_it_is_there() {
    let folder = root().join("deploy/kubernetes");
    let Ok(built) = Command::new("kubectl").arg("kustomize").arg(folder).output() else {
        eprintln!("skipped: kubectl is not here; the other tests of this file read the objects instead");
        return;
    };
    assert!(built.status.success(), "{}", stderr(&built));
}

#[test]
fn selectors_select_ports_lead_somewhere_and_volumes_are_there() {
    let objects = objects();
    for deployment in of_kind(&objects, "Deployment") {
        let name = text(deployment, &["metadata", "name"]);
        assert!(selects(&deployment["spec"]["selector"]["matchLabels"], deployment), "{name}");
        let budgets = of_kind(&objects, "PodDisruptionBudget");
        let kept = budgets.filter(|budget| selects(&budget["spec"]["selector"]["matchLabels"], deployment));
        assert_eq!(kept.count(), 1, "{name} has a budget");
        let container = &pod(deployment)["containers"][0];
        let ports: Vec<&str> =
            container["ports"].as_sequence().unwrap().iter().map(|port| text(port, &["name"])).collect();
        for probe in ["livenessProbe", "readinessProbe"] {
            assert!(ports.contains(&text(container, &[probe, "httpGet", "port"])), "{name}: {probe}");
        }
        assert_eq!(text(container, &["livenessProbe", "httpGet", "path"]), "/livez");
        assert_eq!(text(container, &["readinessProbe", "httpGet", "path"]), "/readyz");
        let volumes: Vec<&str> = pod(deployment)["volumes"]
            .as_sequence()
            .unwrap()
            .iter()
            .map(|volume| text(volume, &["name"]))
            .collect();
        for mount in container["volumeMounts"].as_sequence().unwrap() {
            assert!(volumes.contains(&text(mount, &["name"])), "{name}: {mount:?}");
        }
    }
    let service = named(&objects, "Service", "ganger");
    let server = named(&objects, "Deployment", "ganger-server");
    assert!(selects(&service["spec"]["selector"], server));
    assert!(!selects(&service["spec"]["selector"], named(&objects, "Deployment", "ganger-worker")));
    assert_eq!(service["spec"]["ports"][0]["targetPort"], pod(server)["containers"][0]["ports"][0]["name"]);
    assert_eq!(server["spec"]["replicas"], Value::from(2));
}

#[test]
fn pods_have_no_rights_that_they_do_not_need() {
    let objects = objects();
    for deployment in of_kind(&objects, "Deployment") {
        let pod = pod(deployment);
        assert_eq!(pod["automountServiceAccountToken"], Value::Bool(false));
        assert_eq!(pod["securityContext"]["runAsNonRoot"], Value::Bool(true));
        assert_eq!(pod["securityContext"]["runAsUser"], Value::from(10001), "the user of the image");
        assert_eq!(text(pod, &["securityContext", "seccompProfile", "type"]), "RuntimeDefault");
        for container in pod["containers"].as_sequence().unwrap() {
            let security = &container["securityContext"];
            assert_eq!(security["allowPrivilegeEscalation"], Value::Bool(false));
            assert_eq!(security["readOnlyRootFilesystem"], Value::Bool(true));
            assert_eq!(texts(&security["capabilities"]["drop"]), ["ALL"]);
            assert!(container["resources"]["limits"]["memory"].is_string());
        }
    }
}

#[test]
fn commands_settings_and_secrets_are_what_the_binary_and_the_template_know() {
    let objects = objects();
    for deployment in of_kind(&objects, "Deployment") {
        let container = &pod(deployment)["containers"][0];
        is_a_command(&texts(&container["args"]));
        let mut variables = Vec::new();
        for variable in container["env"].as_sequence().unwrap() {
            let name = text(variable, &["name"]).to_owned();
            let value = match variable["value"].as_str() {
                Some(value) => value.replace("$(POD_IP)", "10.0.0.7"),
                None => from_secret(&objects, &variable["valueFrom"], &name),
            };
            variables.push((name, value));
        }
        are_settings(&variables);
    }
    for secret in of_kind(&objects, "Secret") {
        for key in keys(&secret["stringData"]) {
            assert_eq!(text(secret, &["stringData", &key]), "", "a template has no values");
        }
    }
}

/// What a filled-in template would give, after looking that it has such a key.
fn from_secret(objects: &[Value], source: &Value, name: &str) -> String {
    let reference = &source["secretKeyRef"];
    if reference.is_null() {
        return text(source, &["fieldRef", "fieldPath"]).to_owned();
    }
    let secret = named(objects, "Secret", text(reference, &["name"]));
    let key = text(reference, &["key"]);
    assert!(keys(&secret["stringData"]).contains(&key.to_owned()), "{name} wants {key}");
    match key {
        "store" => "postgres://ganger@db/ganger".into(),
        "redis" => "redis://cache/".into(),
        _ => "0123456789abcdef0123456789abcdef".into(),
    }
}

/// KEDA asks a server for a number; a real one gives it, and reckons with the workers that there are.
#[test]
fn the_autoscaler_asks_what_the_server_answers() {
    let objects = objects();
    let scaled = named(&objects, "ScaledObject", "ganger-worker");
    let worker = named(&objects, "Deployment", text(scaled, &["spec", "scaleTargetRef", "name"]));
    let trigger = &scaled["spec"]["triggers"][0];
    let authentication =
        named(&objects, "TriggerAuthentication", text(trigger, &["authenticationRef", "name"]));
    let target = &authentication["spec"]["secretTargetRef"][0];
    assert_eq!((text(target, &["parameter"]), text(trigger, &["metadata", "authMode"])), ("token", "bearer"));
    assert!(
        keys(&named(&objects, "Secret", text(target, &["name"]))["stringData"])
            .contains(&text(target, &["key"]).to_owned())
    );
    let url = text(trigger, &["metadata", "url"]);
    let path = url.strip_prefix("http://ganger.ganger.svc:8080").expect("the service, in its namespace");
    let args = texts(&pod(worker)["containers"][0]["args"]);
    let of = |flag: &str| args[args.iter().position(|arg| arg == flag).unwrap() + 1].clone();
    assert!(path.contains(&format!("threads_per_worker={}", of("--threads"))), "{path}");
    assert!(path.contains(&format!("/v1/scaling/{}?", of("--queue"))), "{path}");
    assert!(
        path.ends_with(&format!("max={}", scaled["spec"]["maxReplicaCount"].as_u64().unwrap())),
        "{path}"
    );

    let server = Instance::server();
    for _ in 0..9 {
        server.enqueue(&["noop"]);
    }
    let answer = Command::new("curl").args(["-sf", &format!("{}{path}", server.url)]).output().unwrap();
    assert!(answer.status.success(), "{path}: {}", stderr(&answer));
    let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(
        answer[text(trigger, &["metadata", "valueLocation"])],
        3,
        "nine threads, four a worker: {answer}"
    );
}
