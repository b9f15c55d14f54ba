//! Which of the compatible doors there are, and where each begins.

use std::fmt;
use std::str::FromStr;

/// The contract of one of the schedulers that Ganger stands in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// A submitter and a coordinator: `/submit_job`, and metrics under their names.
    A,
    /// Jobs with priority and threads: `/jobs`, `/db/jobs`.
    B,
    /// Tokens, idempotency, failed jobs: `/addJob` and its like.
    C,
    /// A scheduler and a coordinator over gRPC: `dts.ClientService`.
    D,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 4] = [Profile::A, Profile::B, Profile::C, Profile::D];

    /// Its letter, as `--compat` takes it.
    #[must_use]
    pub const fn letter(self) -> &'static str {
        match self {
            Profile::A => "a",
            Profile::B => "b",
            Profile::C => "c",
            Profile::D => "d",
        }
    }

    /// Its paths: each one alone, and everything below it.
    #[must_use]
    pub const fn paths(self) -> &'static [&'static str] {
        match self {
            Profile::A => &["/submit_job"],
            Profile::B => &["/jobs", "/db/jobs"],
            Profile::C => &["/signup", "/login", "/refreshToken", "/addJob", "/failedJobs", "/health"],
            Profile::D => &["/dts.ClientService"],
        }
    }

    /// The profile that a path belongs to, whether or not it is served.
    #[must_use]
    pub fn of(path: &str) -> Option<Profile> {
        let below = |head: &&str| {
            path.strip_prefix(*head).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        Profile::ALL.into_iter().find(|profile| profile.paths().iter().any(below))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.letter())
    }
}

/// Some of the profiles: `none`, `all`, or letters with commas between, such as `a,b,d`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profiles([bool; 4]);

impl Profiles {
    /// Every profile.
    pub const ALL: Profiles = Profiles([true; 4]);
    /// Not one.
    pub const NONE: Profiles = Profiles([false; 4]);

    /// Whether that one is among them.
    #[must_use]
    pub const fn has(self, profile: Profile) -> bool {
        self.0[profile as usize]
    }

    /// Each of them, in order.
    pub fn each(self) -> impl Iterator<Item = Profile> {
        Profile::ALL.into_iter().filter(move |profile| self.has(*profile))
    }
}

impl FromIterator<Profile> for Profiles {
    fn from_iter<I: IntoIterator<Item = Profile>>(profiles: I) -> Profiles {
        let mut set = Profiles::NONE;
        for profile in profiles {
            set.0[profile as usize] = true;
        }
        set
    }
}

impl fmt::Display for Profiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: Vec<&str> = self.each().map(Profile::letter).collect();
        f.write_str(if letters.is_empty() { "none".into() } else { letters.join(",") }.as_str())
    }
}

impl FromStr for Profiles {
    type Err = String;

    fn from_str(text: &str) -> Result<Profiles, String> {
        match text.trim() {
            "none" => return Ok(Profiles::NONE),
            "all" => return Ok(Profiles::ALL),
            _ => {}
        }
        let read = |word: &str| {
            let word = word.trim().to_ascii_lowercase();
            let found = Profile::ALL.into_iter().find(|profile| profile.letter() == word);
            found.ok_or_else(|| format!("`{word}` is not a profile; known are a, b, c, d, all and none"))
        };
        text.split(',').map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_they_are_shown() {
        for (text, shown) in
            [("none", "none"), ("all", "a,b,c,d"), ("d,a", "a,d"), (" B , c", "b,c"), ("a,a", "a")]
        {
            assert_eq!(text.parse::<Profiles>().unwrap().to_string(), shown);
        }
        for wrong in ["", "e", "a,", "a;b", "none,a"] {
            assert!(wrong.parse::<Profiles>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_belongs_to_its_profile_and_no_other_path_does() {
        for (path, profile) in [
            ("/submit_job", Some(Profile::A)),
            ("/jobs", Some(Profile::B)),
            ("/jobs/x", Some(Profile::B)),
            ("/db/jobs/x", Some(Profile::B)),
            ("/failedJobs", Some(Profile::C)),
            ("/dts.ClientService/GetStatus", Some(Profile::D)),
            ("/submit_jobs", None),
            ("/v1/jobs", None),
            ("/jobsx", None),
            ("/db", None),
            ("/metrics", None),
            ("/", None),
        ] {
            assert_eq!(Profile::of(path), profile, "{path}");
        }
    }
}
