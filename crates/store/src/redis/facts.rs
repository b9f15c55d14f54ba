//! What a Redis server says about itself, and what follows for jobs that only it holds.

/// Settings that decide what may be entrusted to it. `None` where it would not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// What it throws away when its memory is full.
    pub(super) eviction: Option<String>,
    /// Whether it writes every change to a file.
    pub(super) append_only: Option<bool>,
}

impl Facts {
    /// From the answer to `INFO`.
    pub(super) fn read(info: &str) -> Facts {
        let field = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(|value| value.trim().to_owned())
        };
        Facts { eviction: field("maxmemory_policy"), append_only: field("aof_enabled").map(|v| v == "1") }
    }

    /// Why no job may be entrusted to it; `None` if one may.
    pub(super) fn unfit_for_jobs(&self) -> Option<String> {
        let policy = self.eviction.as_deref()?;
        policy.starts_with("allkeys").then(|| {
            format!(
                "redis evicts any key when its memory is full (maxmemory-policy {policy}), which would lose \
                 buffered jobs: set it to noeviction or to a volatile policy"
            )
        })
    }

    /// What `durability: buffered` means with such a server, where it means less than one may think.
    pub(super) fn dangers(&self) -> Vec<String> {
        let mut dangers = Vec::new();
        dangers.extend(self.unfit_for_jobs());
        match self.append_only {
            Some(true) => {}
            Some(false) => dangers.push(
                "redis keeps no append-only file (appendonly no): jobs submitted as `buffered` and not yet in the \
                 database are lost when it restarts; durable ones are not concerned"
                    .into(),
            ),
            None => dangers.push(
                "redis does not tell whether it keeps an append-only file: jobs submitted as `buffered` and not \
                 yet in the database may be lost when it restarts; durable ones are not concerned"
                    .into(),
            ),
        }
        dangers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_policy_that_may_evict_the_buffer_is_refused() {
        let with = |policy: &str| Facts::read(&format!("# Memory\r\nmaxmemory_policy:{policy}\r\n"));
        for refused in ["allkeys-lru", "allkeys-lfu", "allkeys-random"] {
            assert!(with(refused).unfit_for_jobs().is_some_and(|why| why.contains(refused)), "{refused}");
        }
        // The buffer has no expiry, so a volatile policy never takes it.
        for fine in ["noeviction", "volatile-lru", "volatile-ttl"] {
            assert_eq!(with(fine).unfit_for_jobs(), None, "{fine}");
        }
        assert_eq!(Facts::default().unfit_for_jobs(), None);
    }

    #[test]
    fn a_server_without_an_append_only_file_is_told_of() {
        assert_eq!(Facts::read("aof_enabled:1\r\n").dangers(), Vec::<String>::new());
        assert!(Facts::read("aof_enabled:0\r\n").dangers()[0].contains("appendonly no"));
        assert_eq!(Facts::default().dangers().len(), 1);
    }
}
