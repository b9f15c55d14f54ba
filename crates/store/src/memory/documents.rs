//! Documents of the server's own.

use ganger_core::change::Applied;
use ganger_core::document::{Collection, Document};

use super::state::MemoryState;

impl MemoryState {
    /// The documents of a collection with their names.
    #[must_use]
    pub fn documents(&self, collection: Collection) -> Vec<(String, String)> {
        let of_it = self.documents.iter().filter(|((of, _), _)| *of == collection);
        of_it.map(|((_, key), body)| (key.clone(), body.clone())).collect()
    }

    pub(super) fn put_document(&mut self, document: &Document) -> Applied {
        let key = (document.collection, document.key.clone());
        match &document.body {
            Some(body) => self.documents.put(key, body.clone()),
            None => drop(self.documents.take(&key)),
        }
        Applied::Done
    }
}
