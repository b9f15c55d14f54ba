//! The flags of a server that has a Redis in front of its store.

use std::path::PathBuf;

use clap::Args;
use ganger_store::redis::{Redis, RedisOptions};

use crate::config::{Config, Key, Layer, RawStore};
use crate::failure::{Failure, Fallible};
use crate::serving::Accelerated;

/// Redis in front of the store, and what it may be used for.
#[derive(Args, Debug)]
pub(super) struct RedisFlags {
    /// Redis in front of the store: redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS; it may vanish
    /// [env: GANGER_REDIS]
    #[arg(long, value_name = "URL")]
    redis: Option<RawStore>,
    /// What every key in Redis begins with; clusters that share a Redis need different ones
    #[arg(long, value_name = "NAME", default_value = "ganger")]
    redis_namespace: String,
    /// Trust the certificate of Redis by these certificates (PEM), in place of those of the system
    #[arg(long, value_name = "FILE")]
    redis_ca: Option<PathBuf>,
    /// Accept jobs with `durability: buffered`, which only Redis holds until they are in the store
    #[arg(long)]
    allow_buffered: bool,
}

impl RedisFlags {
    /// Connects, if there is a Redis to connect to. One that is away is looked for later.
    pub(super) async fn connect(&self, config: &Config) -> Fallible<Accelerated> {
        let Some(url) = config.redis.value.0.clone() else {
            if self.allow_buffered {
                return Err(Failure::usage(
                    "cannot allow buffered jobs",
                    "no Redis is given, and nothing else could hold them",
                    "add --redis redis://HOST:PORT, or leave out --allow-buffered",
                ));
            }
            return Ok(Accelerated::default());
        };
        let ca = match &self.redis_ca {
            None => None,
            Some(path) => Some(std::fs::read(path).map_err(|error| {
                let what = format!("cannot read the certificates in {}", path.display());
                Failure::file(what, &error, "check the path in --redis-ca")
            })?),
        };
        let options = RedisOptions { namespace: self.redis_namespace.clone(), ca, ..RedisOptions::new(url) };
        let redis = Redis::connect(options).await.map_err(|error| {
            let fix = format!("correct it: the address came from {}", config.redis.origin);
            Failure::usage("cannot use Redis", error, fix)
        })?;
        Ok(Accelerated { redis: Some(redis), allow_buffered: self.allow_buffered })
    }

    pub(super) fn settings(&self, layer: &mut Layer) {
        layer.set(Key::Redis, self.redis.as_ref().map(RawStore::text));
    }
}
