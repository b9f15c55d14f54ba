//! What a batch does to the marks of jobs: one statement for those that stand afterwards, one for those that are over.

use std::collections::BTreeMap;

use ganger_core::change::EffectMark;
use ganger_core::{Fence, JobId};
use uuid::Uuid;

use super::Segment;
use crate::postgres::error::Failure;
use crate::postgres::pipeline::{Pipeline, param};
use crate::postgres::{codec, sql};

/// What becomes of the mark of one job.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// It stands under this lease in the end.
    stands: Option<Fence>,
    /// A mark of this batch took its place, and is over: nothing is left.
    nothing_left: bool,
    /// If it stood under one of these before, it is over.
    over: Vec<Fence>,
}

impl Marked {
    pub(super) fn take(&mut self, mark: &EffectMark) {
        if mark.stands {
            self.stands = Some(mark.fence);
        } else if self.stands == Some(mark.fence) {
            self.stands = None;
            self.nothing_left = true;
        } else if self.stands.is_none() {
            self.over.push(mark.fence);
        }
    }
}

impl<'b> Segment<'b> {
    pub(super) fn write_marks(&mut self, pipeline: &mut Pipeline<'b>) -> Result<(), Failure> {
        let marks: BTreeMap<JobId, Marked> = std::mem::take(&mut self.marks);
        let mut stand: (Vec<Uuid>, Vec<Vec<u8>>) = Default::default();
        let mut over: (Vec<Uuid>, Vec<Option<Vec<u8>>>) = Default::default();
        for (job, marked) in marks {
            if let Some(fence) = marked.stands {
                stand.0.push(job.uuid());
                stand.1.push(codec::fence_key(fence));
            } else if marked.nothing_left {
                over.0.push(job.uuid());
                over.1.push(None);
            } else {
                for fence in marked.over {
                    over.0.push(job.uuid());
                    over.1.push(Some(codec::fence_key(fence)));
                }
            }
        }
        if !stand.0.is_empty() {
            pipeline.add(sql::PUT_MARKS, vec![param(stand.0), param(stand.1)])?;
        }
        if !over.0.is_empty() {
            pipeline.add(sql::TAKE_MARKS, vec![param(over.0), param(over.1)])?;
        }
        Ok(())
    }
}
