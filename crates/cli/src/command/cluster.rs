//! `ganger cluster`: the servers that share a store, and which of them leads.

use std::time::Duration;

use clap::{Args, Subcommand};
use ganger_server::api::{ClusterBody, RoleName, ServerBody};

use crate::client::Call;
use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::{grouped, relative, short};
use crate::output::{Cell, Paint, Shown, Style, Table};

/// A server says every five seconds that it lives. One that missed two of them, and the time for a third, may be gone.
const SILENT: Duration = Duration::from_secs(15);

/// The servers that share a store, and which of them leads.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  ganger cluster status")]
pub(crate) struct Cluster {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Status(Status),
}

/// Who leads, in which term, and which servers are there.
#[derive(Args, Debug)]
#[command(after_help = "\
HEARD is how long ago a server said that it lives, which it does every 5 seconds. One that has not for 15 may be gone; after a
minute it is not shown any more. LAG is how long ago the leader renewed its right to lead; others take over when it is too long.

Examples:
  ganger cluster status
  ganger cluster status -o json | jq .leader.term")]
struct Status {}

impl Cluster {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let Verb::Status(Status {}) = self.verb;
        let answer = context.client()?.send(&Call::get("look at the cluster", "/v1/cluster")).await?;
        let cluster = answer.read::<ClusterBody>()?;
        let items = crate::command::items(&answer)?;
        let shown = Shown {
            body: &answer.body,
            items: items.iter().map(AsRef::as_ref).collect(),
            names: cluster.items.iter().map(|server| server.name.clone()).collect(),
        };
        context.out.show(&shown, |_| describe(&cluster, context.out.style()))?;
        if let Some(why) = &cluster.incomplete {
            context.out.note(&format!("this is only what {} knows by itself: {why}", cluster.server));
        }
        Ok(Exit::Success)
    }
}

fn describe(cluster: &ClusterBody, style: Style) -> String {
    let term = cluster.leader.as_ref().map_or_else(String::new, |leader| format!(", term {}", leader.term));
    if cluster.embedded {
        return format!("one server, embedded{term}");
    }
    let mut table = Table::new(["ROLE", "NAME", "ADDRESS", "VERSION", "STARTED", "HEARD", ">LAG"]);
    let now = clock::now();
    for server in &cluster.items {
        let leader = cluster.leader.as_ref().filter(|leader| leader.name == server.name);
        table.row(vec![
            role(server),
            server.name.as_str().into(),
            server.address.as_str().into(),
            server.version.as_str().into(),
            relative(server.started_at, now).into(),
            format!("{} ago", short(Duration::from_millis(server.silent_ms))).into(),
            leader.map_or("-".to_owned(), |leader| short(Duration::from_millis(leader.lag_ms))).into(),
        ]);
    }
    let standing = match &cluster.leader {
        Some(leader) => format!(
            "{} leads in term {} since {}, {} batches",
            leader.name,
            leader.term,
            relative(leader.since, now),
            grouped(leader.batch)
        ),
        None => Paint::Red.on("nobody leads at the moment", style),
    };
    format!("{}\n\n{standing}", table.render(style))
}

/// What a server does, unless it is so silent that it may do nothing any more. Who leads is told by the store, and not by hearsay.
fn role(server: &ServerBody) -> Cell {
    let silent = Duration::from_millis(server.silent_ms) > SILENT;
    if silent && server.role != RoleName::Leader {
        return Cell::painted("gone?", Paint::Yellow);
    }
    Cell::painted(server.role.as_str(), paint(server.role))
}

const fn paint(role: RoleName) -> Paint {
    match role {
        RoleName::Leader => Paint::Green,
        RoleName::Standby => Paint::Plain,
        RoleName::TakingOver => Paint::Yellow,
        RoleName::Stopped => Paint::Dim,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::Wall;
    use ganger_server::api::LeaderBody;

    const PLAIN: Style = Style { color: false, glyphs: false, width: None };

    fn server(name: &str, role: RoleName) -> ServerBody {
        ServerBody {
            name: name.into(),
            role,
            address: format!("http://{name}:8080"),
            version: "1.2.3".into(),
            started_at: Wall(0),
            silent_ms: 1_200,
        }
    }

    fn cluster() -> ClusterBody {
        let leader = LeaderBody {
            name: "alice".into(),
            address: "http://alice:8080".into(),
            term: 7,
            since: Wall(0),
            batch: 12_345,
            lag_ms: 300,
        };
        ClusterBody {
            server: "bob".into(),
            role: RoleName::Standby,
            embedded: false,
            leader: Some(leader),
            items: vec![server("alice", RoleName::Leader), server("bob", RoleName::Standby)],
            incomplete: None,
        }
    }

    #[test]
    fn the_leader_is_shown_with_its_term_and_lag() {
        let text = describe(&cluster(), PLAIN);
        let line = |word: &str| text.lines().find(|line| line.starts_with(word)).unwrap().to_owned();
        assert!(line("leader").contains("alice") && line("leader").ends_with("300ms"), "{text}");
        assert!(line("standby").contains("http://bob:8080") && line("standby").ends_with('-'), "{text}");
        assert!(text.contains("alice leads in term 7") && text.contains("12,345 batches"), "{text}");
        let nobody = ClusterBody { leader: None, ..cluster() };
        assert!(describe(&nobody, PLAIN).ends_with("nobody leads at the moment"));
    }

    /// Killed, it cannot say that it goes.
    #[test]
    fn a_server_that_is_silent_for_long_may_be_gone() {
        let mut seen = cluster();
        seen.items[1].silent_ms = 14_900;
        assert!(!describe(&seen, PLAIN).contains("gone?"));
        seen.items[1].silent_ms = 15_100;
        let text = describe(&seen, PLAIN);
        assert!(text.lines().any(|line| line.starts_with("gone?") && line.contains("15.1s ago")), "{text}");
        // Nobody has taken over, so it leads.
        seen.items[0].silent_ms = 15_100;
        assert!(describe(&seen, PLAIN).lines().any(|line| line.starts_with("leader")));
    }

    #[test]
    fn a_server_alone_says_so() {
        let alone = ClusterBody { embedded: true, ..cluster() };
        assert_eq!(describe(&alone, PLAIN), "one server, embedded, term 7");
    }
}
