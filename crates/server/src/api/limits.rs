//! Limits of queues, and the keys that share them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use ganger_core::Wall;
use ganger_core::coordinator::view::KeyView;
use ganger_core::name::QueueName;
use ganger_core::queue::{Ageing, Limits, Rate};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::ToSchema;

use super::duration::{self, HumanDuration};

/// What the jobs of a queue, or of a key of it, together may do. What is not there is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct QueueLimitsBody {
    /// Jobs that run at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_running: Option<u32>,
    /// Starts per period.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "100/1m")]
    pub rate: Option<RateText>,
    /// Starts at once after a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Jobs that wait. Submissions beyond are refused, or held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
}

impl From<Limits> for QueueLimitsBody {
    fn from(limits: Limits) -> QueueLimitsBody {
        QueueLimitsBody {
            max_running: limits.max_running,
            rate: limits.rate.map(|rate| RateText { n: rate.n, per: rate.per }),
            burst: limits.rate.map(|rate| rate.burst),
            max_depth: limits.max_depth,
        }
    }
}

impl QueueLimitsBody {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == QueueLimitsBody::default()
    }
}

/// Changes to limits; what is left out stays as it is, and `none` lifts a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueueLimitsPut {
    /// Jobs that run at a time, or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>)]
    pub max_running: Option<OrNone<u32>>,
    /// Starts per period, or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "100/1m")]
    pub rate: Option<OrNone<RateText>>,
    /// Starts at once after a pause; a tenth of the rate's number if it is never given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Jobs that wait, or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>)]
    pub max_depth: Option<OrNone<u32>>,
}

impl QueueLimitsPut {
    /// The limits with these changes; `None` if a burst is given where there is no rate.
    #[must_use]
    pub fn apply(self, to: Limits) -> Option<Limits> {
        let rate = match self.rate {
            None => to.rate,
            Some(OrNone::None) => None,
            Some(OrNone::Some(rate)) => Some(Rate::new(rate.n, rate.per)),
        };
        let rate = match (rate, self.burst) {
            (None, Some(_)) => return None,
            (Some(rate), Some(burst)) => Some(Rate { burst, ..rate }),
            (rate, None) => rate,
        };
        Some(Limits {
            max_running: self.max_running.map_or(to.max_running, OrNone::into_option),
            rate,
            max_depth: self.max_depth.map_or(to.max_depth, OrNone::into_option),
        })
    }
}

/// How waiting makes up for priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgeingBody {
    /// A waiting job gains one priority for each so long.
    #[schema(example = "1m")]
    pub every: HumanDuration,
    /// It gains at most so much; 255 if that is not said.
    #[schema(value_type = Option<u8>, minimum = 1)]
    pub at_most: u8,
}

impl From<Ageing> for AgeingBody {
    fn from(ageing: Ageing) -> AgeingBody {
        AgeingBody { every: HumanDuration(ageing.every), at_most: ageing.at_most }
    }
}

/// `concurrency_key` of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyBody {
    /// The queue.
    #[schema(value_type = String)]
    pub queue: QueueName,
    /// The key.
    pub key: String,
    /// Live jobs that have it and do not run.
    pub waiting: u32,
    /// Jobs that have it and run.
    pub running: u32,
    /// Nothing of it starts before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub closed_until: Option<Wall>,
}

impl From<KeyView> for KeyBody {
    fn from(view: KeyView) -> KeyBody {
        let KeyView { queue, key, waiting, running, closed_until } = view;
        KeyBody { queue, key, waiting, running, closed_until }
    }
}

/// The keys that have live jobs or are closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeysBody {
    /// Closed ones first, then by queue and name.
    pub items: Vec<KeyBody>,
    /// How many there are, shown or not.
    pub total: usize,
}

/// For how long a key is closed: one of the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KeyClose {
    /// For so long from now.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    #[schema(example = "30s")]
    pub for_: Option<HumanDuration>,
    /// Until this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Wall>,
}

/// A value, or `none` where there is to be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrNone<T> {
    /// `none`.
    None,
    /// A value.
    Some(T),
}

impl<T> OrNone<T> {
    /// As an option.
    pub fn into_option(self) -> Option<T> {
        match self {
            OrNone::None => None,
            OrNone::Some(value) => Some(value),
        }
    }
}

impl<T: FromStr> FromStr for OrNone<T> {
    type Err = T::Err;
    fn from_str(text: &str) -> Result<OrNone<T>, T::Err> {
        if text == "none" { Ok(OrNone::None) } else { text.parse().map(OrNone::Some) }
    }
}

impl<T: Serialize> Serialize for OrNone<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            OrNone::None => s.serialize_str("none"),
            OrNone::Some(value) => value.serialize(s),
        }
    }
}

impl<'de, T: de::DeserializeOwned> Deserialize<'de> for OrNone<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<OrNone<T>, D::Error> {
        let value = serde_json::Value::deserialize(d)?;
        if value == "none" {
            return Ok(OrNone::None);
        }
        serde_json::from_value(value).map(OrNone::Some).map_err(de::Error::custom)
    }
}

/// So many per period, as `100/1m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateText {
    /// So many
    pub n: u32,
    /// in so long.
    pub per: Duration,
}

impl fmt::Display for RateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.n, duration::format(self.per))
    }
}

/// The text is not a rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rate: write for example `100/1m` or `5/1s`")]
pub struct RateError(String);

impl FromStr for RateText {
    type Err = RateError;
    fn from_str(text: &str) -> Result<RateText, RateError> {
        let refused = || RateError(text.chars().take(64).collect());
        let (n, per) = text.split_once('/').ok_or_else(refused)?;
        // `5/s` is as good as `5/1s`.
        let whole = match per.chars().next() {
            None => return Err(refused()),
            Some(c) if c.is_ascii_digit() || c == 'P' => per.to_owned(),
            Some(_) => format!("1{per}"),
        };
        let per = duration::parse(&whole).map_err(|_| refused())?;
        Ok(RateText { n: n.parse().map_err(|_| refused())?, per })
    }
}

impl Serialize for RateText {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RateText {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<RateText, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_reads_as_people_write_it_and_back() {
        let minute = RateText { n: 100, per: Duration::from_secs(60) };
        for text in ["100/1m", "100/m", "100/60s", "100/PT1M"] {
            assert_eq!(text.parse(), Ok(minute), "{text}");
        }
        assert_eq!(minute.to_string(), "100/1m");
        for text in ["", "/", "100", "100/", "/1m", "-1/1m", "1.5/s", "100/1m/2", "4294967296/1s"] {
            assert!(text.parse::<RateText>().is_err(), "{text}");
        }
    }

    #[test]
    fn none_lifts_a_limit_and_what_is_left_out_stays() {
        let put: QueueLimitsPut = serde_json::from_str(r#"{"rate": "100/1m", "max_depth": 9}"#).unwrap();
        let set = put.apply(Limits { max_running: Some(3), ..Limits::default() }).unwrap();
        assert_eq!((set.max_running, set.max_depth), (Some(3), Some(9)));
        assert_eq!(set.rate, Some(Rate { n: 100, per: Duration::from_secs(60), burst: 10 }));
        let burst = QueueLimitsPut { burst: Some(20), ..QueueLimitsPut::default() };
        assert_eq!(burst.apply(set).unwrap().rate.unwrap().burst, 20);
        assert_eq!(burst.apply(Limits::default()), None);
        let put: QueueLimitsPut = serde_json::from_str(r#"{"max_running": "none", "rate": "none"}"#).unwrap();
        assert_eq!(put.apply(set), Some(Limits { max_depth: Some(9), ..Limits::default() }));
    }
}
