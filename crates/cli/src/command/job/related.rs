//! `ganger job related`: what a job waits for, and what waits for it.

use ganger_core::JobId;
use ganger_server::api::{RelatedPage, RelationsBody};

use crate::client::Call;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::output::{Style, Table, state_cell};

/// Shows the parents and the children of a job.
pub(super) async fn run(context: &Context, id: JobId) -> Fallible<Exit> {
    let call = Call::get(format!("list what is related to job {id}"), format!("/v1/jobs/{id}/related"));
    let answer = context.client()?.send(&call).await?;
    let relations = answer.read::<RelationsBody>()?;
    context.out.show_one(&answer.body, &id.to_string(), |_| shown(&relations, context.out.style()))?;
    let more = [&relations.parents, &relations.children].iter().any(|page| page.next_cursor.is_some());
    if more && context.out.is_for_people() {
        context.out.note(&format!("there are more: GET /v1/jobs/{id}/parents and /children have them all"));
    }
    Ok(Exit::Success)
}

fn shown(relations: &RelationsBody, style: Style) -> String {
    let mut table =
        Table::new(["RELATION", "STATE", "JOB", "KIND", "QUEUE", "IF THE PARENT DIES", "SETTLED"]);
    add(&mut table, "parent", &relations.parents, style);
    add(&mut table, "child", &relations.children, style);
    let nobody = relations.parents.items.is_empty() && relations.children.items.is_empty();
    if nobody { "it waits for nobody, and nobody waits for it".to_owned() } else { table.render(style) }
}

fn add(table: &mut Table, relation: &str, page: &RelatedPage, style: Style) {
    for item in &page.items {
        table.row(vec![
            relation.into(),
            item.state.map_or_else(|| "not kept".into(), |state| state_cell(state, style)),
            item.id.to_string().into(),
            item.kind.as_ref().map_or("-", |kind| kind.as_str()).into(),
            item.queue.as_ref().map_or("-", |queue| queue.as_str()).into(),
            item.on_dead.as_str().into(),
            item.settled.map_or("no", |state| state.as_str()).into(),
        ]);
    }
}
