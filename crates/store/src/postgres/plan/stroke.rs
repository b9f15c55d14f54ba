//! A batch that is one statement: jobs come in, and may be leased at once.

use ganger_core::change::Change;

use super::Segment;
use super::write::{COPIED, is_inline};
use crate::postgres::error::Failure;
use crate::postgres::pipeline::Param;
use crate::postgres::row::NewRow;

impl<'b> Segment<'b> {
    /// Whether the segment of these changes is nothing but new jobs, few enough, the answers to their idempotency keys and their leases.
    pub(in crate::postgres) fn is_submission(&self, changes: &[Change]) -> bool {
        let only = changes.iter().all(|change| matches!(change, Change::Submit(_) | Change::Assign(_)));
        let looked_at =
            !self.suspects.is_empty() || !self.leasable.is_empty() || !self.transactional.is_empty();
        only && !looked_at
            && self.created.len() <= COPIED
            && self.created.iter().all(|created| is_inline(created.new))
    }

    /// The parameters of `submit_batch` that say what it takes in and leases.
    pub(in crate::postgres) fn submission(mut self) -> Result<Vec<Param<'b>>, Failure> {
        let mut params = NewRow::columns(&self.rows()?);
        params.extend(self.answer_columns());
        params.extend(self.assignment_columns());
        Ok(params)
    }
}
