//! `ganger audit`: who changed what.

use clap::Args;
use ganger_server::api::{AuditBody, AuditEntryBody};

use crate::client::{Call, with_query};
use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::relative;
use crate::output::{Shown, Style, Table};

/// Who changed what, the last first.
#[derive(Args, Debug)]
#[command(after_help = "\
A server that asks who calls writes down every change with who asked for it; the last 10,000 are kept.

Examples:
  ganger audit
  ganger audit --who user:ada --limit 500
  ganger audit --target 'queue mail' -o json")]
pub(crate) struct Audit {
    /// Only of this caller, such as user:ada or token:4k2m9x7q0b1c
    #[arg(long)]
    who: Option<String>,
    /// Only what concerns this, such as 'queue mail' or a job's id
    #[arg(long)]
    target: Option<String>,
    /// How many, 1 to 500 [default: 50]
    #[arg(long)]
    limit: Option<usize>,
    /// From behind this entry on
    #[arg(long, value_name = "ID")]
    cursor: Option<String>,
}

impl Audit {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let path = with_query(
            "/v1/audit",
            [
                ("who", self.who),
                ("target", self.target),
                ("limit", self.limit.map(|limit| limit.to_string())),
                ("cursor", self.cursor),
            ],
        );
        let answer = context.client()?.send(&Call::get("read the audit log", path)).await?;
        let AuditBody { items: entries, next_cursor } = answer.read::<AuditBody>()?;
        let items = super::items(&answer)?;
        let names = entries.iter().map(|entry| entry.id.clone()).collect();
        let shown = Shown { body: &answer.body, items: items.iter().map(AsRef::as_ref).collect(), names };
        context.out.show(&shown, |_| table(&entries, context.out.style()))?;
        if let Some(next) = next_cursor.filter(|_| context.out.is_for_people()) {
            context.out.note(&format!("there are more: --cursor {next}"));
        }
        Ok(Exit::Success)
    }
}

fn table(entries: &[AuditEntryBody], style: Style) -> String {
    let mut table = Table::new(["WHEN", "WHO", "FROM", "OPERATION", "TARGET"]);
    for entry in entries {
        table.row(vec![
            relative(entry.at, clock::now()).into(),
            entry.who.as_str().into(),
            entry.from.as_deref().unwrap_or("").into(),
            entry.operation.as_str().into(),
            entry.target.as_str().into(),
        ]);
    }
    table.render(style)
}
