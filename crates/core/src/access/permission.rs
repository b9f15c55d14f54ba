//! Permissions, and the roles that bundle them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$word_doc])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// Every one.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word for it, on the wire and in the store.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The one of that name.
            #[must_use]
            pub fn parse(text: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.as_str() == text)
            }
        }
    };
}

words! {
    /// What an operation needs.
    Permission {
        /// See jobs, queues, workers and numbers, but not what is in jobs.
        Read "read",
        /// See payloads, results and logs.
        ReadPayload "read_payload",
        /// Submit jobs.
        Enqueue "enqueue",
        /// Stop jobs, and let waiting ones run at once.
        Cancel "cancel",
        /// Run final jobs again.
        Replay "replay",
        /// Change queues, kinds, keys and views; drain workers.
        Settings "settings",
        /// Remove jobs for good.
        Purge "purge",
        /// Make and change schedules.
        Schedule "schedule",
        /// Lease jobs and report on them.
        Work "work",
        /// Read the audit log.
        Audit "audit",
        /// Make and change users and tokens.
        Admin "admin",
    }
}

words! {
    /// A bundle of permissions with a name.
    Role {
        /// Looks.
        Viewer "viewer",
        /// Submits jobs, and looks after his own.
        Submitter "submitter",
        /// Runs the place.
        Operator "operator",
        /// Leases jobs and reports on them.
        Worker "worker",
        /// May do everything.
        Admin "admin",
    }
}

impl Role {
    /// What it may do.
    #[must_use]
    pub const fn permissions(self) -> Permissions {
        use Permission::{
            Audit, Cancel, Enqueue, Purge, Read, ReadPayload, Replay, Schedule, Settings, Work,
        };
        match self {
            Role::Viewer => Permissions::of(&[Read]),
            Role::Submitter => Permissions::of(&[Read, ReadPayload, Enqueue, Cancel]),
            Role::Operator => Permissions::of(&[
                Read,
                ReadPayload,
                Enqueue,
                Cancel,
                Replay,
                Settings,
                Purge,
                Schedule,
                Audit,
            ]),
            // A handler reads the results of the jobs that its own waited for, and enqueues others.
            Role::Worker => Permissions::of(&[Work, Read, ReadPayload, Enqueue]),
            Role::Admin => Permissions::ALL,
        }
    }
}

/// A set of permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions(u16);

impl Permissions {
    /// None.
    pub const NONE: Permissions = Permissions(0);
    /// Every one.
    pub const ALL: Permissions = Permissions::of(Permission::ALL);

    /// These.
    #[must_use]
    pub const fn of(permissions: &[Permission]) -> Permissions {
        let (mut bits, mut i) = (0, 0);
        while i < permissions.len() {
            bits |= 1 << permissions[i] as u16;
            i += 1;
        }
        Permissions(bits)
    }

    /// Whether this is one of them.
    #[must_use]
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u16) != 0
    }

    /// Those that are in both.
    #[must_use]
    pub const fn and(self, other: Permissions) -> Permissions {
        Permissions(self.0 & other.0)
    }

    /// Each, in the order in which they are declared.
    pub fn each(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |permission| self.contains(*permission))
    }
}

impl Serialize for Permissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.each())
    }
}

impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Permissions, D::Error> {
        Vec::<Permission>::deserialize(deserializer).map(|each| Permissions::of(&each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_as_what_it_was_written_for() {
        for permission in Permission::ALL {
            assert_eq!(Permission::parse(permission.as_str()), Some(*permission));
        }
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(*role));
        }
        assert_eq!(Role::parse("root"), None);
        let json = serde_json::to_string(&Role::Submitter.permissions()).unwrap();
        assert_eq!(json, r#"["read","read_payload","enqueue","cancel"]"#);
        assert_eq!(serde_json::from_str::<Permissions>(&json).unwrap(), Role::Submitter.permissions());
    }

    #[test]
    fn only_an_admin_makes_users_and_only_workers_and_admins_lease() {
        for role in Role::ALL {
            let may = role.permissions();
            assert_eq!(may.contains(Permission::Admin), *role == Role::Admin);
            assert_eq!(may.contains(Permission::Work), matches!(role, Role::Admin | Role::Worker));
        }
        assert!(!Role::Viewer.permissions().contains(Permission::ReadPayload));
        assert_eq!(Role::Admin.permissions().each().count(), Permission::ALL.len());
    }
}
