//! Many new jobs at once, by COPY.

use std::pin::pin;

use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::error::Failure;
use super::pipeline::Pipeline;
use super::row::NewRow;
use super::sql;

/// The columns of `copy_jobs`, in its order.
const TYPES: [Type; 19] = [
    Type::UUID,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT4,
    Type::INT4,
    Type::INT4,
    Type::INT2,
    Type::BOOL,
    Type::BOOL,
    Type::TEXT,
    Type::TEXT,
    Type::BYTEA,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::BYTEA,
];

/// Adds the rows to a pipeline. The statements after it follow without waiting for its answer.
pub(super) fn jobs<'b>(pipeline: &mut Pipeline<'b>, rows: Vec<NewRow<'b>>) -> Result<(), Failure> {
    let connection = pipeline.connection();
    let statement = connection.statement(sql::COPY_JOBS)?.clone();
    pipeline.step(async move {
        let sink = connection.client.copy_in(&statement).await?;
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &TYPES));
        let (none, zero, no) = (None::<&[u8]>, 0i32, false);
        for row in &rows {
            let (created_at, due_at) = (row.created_at.0, row.due_at.0);
            let values: [&(dyn ToSql + Sync); 19] = [
                &row.id,
                &row.seq,
                &created_at,
                &due_at,
                &row.run_at,
                &row.unique_for,
                &zero,
                &zero,
                &zero,
                &row.priority,
                &no,
                &row.cancel_wanted,
                &row.kind,
                &row.queue,
                &none,
                &row.unique_key,
                &row.tags,
                &row.options,
                &row.payload,
            ];
            writer.as_mut().write(&values).await?;
        }
        writer.finish().await.map(|_| Vec::new())
    });
    Ok(())
}
