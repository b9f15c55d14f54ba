//! Saved views: filters with a name.

use ganger_core::coordinator::port::{Ask, Reply};
use ganger_core::document::{Collection, DOCUMENTS, Document};
use ganger_core::filter::Filter;
use ganger_core::job::SpecError;
use ganger_core::{Wall, limits};
use serde::{Deserialize, Serialize};

use super::ask::misplaced;
use super::{Answer, Service, ServiceError};

/// A filter with a name, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The filter.
    pub query: String,
    /// What it is for, in words.
    #[serde(default)]
    pub description: Option<String>,
    /// When it was last set.
    pub updated_at: Wall,
}

impl Service {
    /// Every saved view, by name.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn views(&self) -> Answer<Vec<(String, View)>> {
        let documents = self.0.store.documents(Collection::View).await?;
        let read = |(name, body): (String, String)| match serde_json::from_str(&body) {
            Ok(view) => Some((name, view)),
            Err(error) => {
                tracing::warn!("the saved view `{name}` cannot be read: {error}");
                None
            }
        };
        Ok(documents.into_iter().filter_map(read).collect())
    }

    /// One saved view.
    ///
    /// # Errors
    /// There is no such view, or the store cannot be read.
    pub async fn view(&self, name: &str) -> Answer<View> {
        let found = self.views().await?.into_iter().find(|(known, _)| known == name);
        found.map(|(_, view)| view).ok_or_else(|| ServiceError::NoSuchView(name.into()))
    }

    /// Sets a view, a new one or one that is there. `true` if it is new.
    ///
    /// # Errors
    /// Its filter cannot be understood, its description is too long, there are too many, or the write fails.
    pub async fn put_view(
        &self,
        name: &str,
        query: String,
        description: Option<String>,
    ) -> Answer<(View, bool)> {
        if description.as_ref().is_some_and(|text| text.len() > limits::REMARK_BYTES) {
            let most = limits::REMARK_BYTES;
            return Err(SpecError::new("description", format!("is longer than {most} bytes")).into());
        }
        Filter::parse(&query).map_err(|error| ServiceError::Filter("query", Box::new(error)))?;
        let view = View { query, description, updated_at: self.0.clock.now().wall };
        // Changes are read, made and written under one lock, so that there are never too many.
        let _one_at_a_time = self.0.changes.lock().await;
        let views = self.views().await?;
        let new = views.iter().all(|(known, _)| known != name);
        if new && views.len() >= DOCUMENTS {
            return Err(ServiceError::TooMany("views", DOCUMENTS));
        }
        self.put_document(Document::of(Collection::View, name, &view)?).await?;
        Ok((view, new))
    }

    /// Forgets a view.
    ///
    /// # Errors
    /// There is no such view, or the write fails.
    pub async fn delete_view(&self, name: &str) -> Answer<()> {
        self.view(name).await?;
        self.put_document(Document::removed(Collection::View, name)).await
    }

    /// Keeps or forgets a document.
    pub(crate) async fn put_document(&self, document: Document) -> Answer<()> {
        let Reply::Documented = self.ask(Ask::PutDocument(document)).await? else { return Err(misplaced()) };
        Ok(())
    }

    /// The documents of a collection with their names.
    pub(crate) async fn documents(&self, collection: Collection) -> Answer<Vec<(String, String)>> {
        Ok(self.0.store.documents(collection).await?)
    }
}
