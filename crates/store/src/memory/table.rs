//! A map that can take back what a transaction did to it.

use std::collections::BTreeMap;
use std::ops::Deref;

/// Rows by key, in order, with the old values of what the open transaction changed. Reading is
/// that of a [`BTreeMap`]; every change goes through the methods here.
#[derive(Clone, Debug)]
pub(super) struct Table<K, V> {
    rows: BTreeMap<K, V>,
    /// What each changed key held before, oldest change first.
    before: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Table<K, V> {
        Table { rows: BTreeMap::new(), before: Vec::new() }
    }
}

impl<K, V> Deref for Table<K, V> {
    type Target = BTreeMap<K, V>;
    fn deref(&self) -> &BTreeMap<K, V> {
        &self.rows
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    /// Writes a row, whether or not there was one.
    pub(super) fn put(&mut self, key: K, row: V) {
        let old = self.rows.insert(key.clone(), row);
        self.before.push((key, old));
    }

    /// Removes a row.
    pub(super) fn take(&mut self, key: &K) -> Option<V> {
        let old = self.rows.remove(key)?;
        self.before.push((key.clone(), Some(old.clone())));
        Some(old)
    }

    /// Changes a row in place; does nothing if there is none.
    pub(super) fn change(&mut self, key: &K, change: impl FnOnce(&mut V)) {
        if let Some(row) = self.rows.get_mut(key) {
            self.before.push((key.clone(), Some(row.clone())));
            change(row);
        }
    }

    /// The transaction is over and stays.
    pub(super) fn commit(&mut self) {
        self.before.clear();
    }

    /// The transaction never was.
    pub(super) fn roll_back(&mut self) {
        while let Some((key, old)) = self.before.pop() {
            match old {
                Some(row) => self.rows.insert(key, row),
                None => self.rows.remove(&key),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rolled_back_transaction_leaves_every_row_as_it_was() {
        let mut table = Table::default();
        table.put(1, "one");
        table.put(2, "two");
        table.commit();

        table.put(1, "uno");
        table.change(&1, |row| *row = "eins");
        table.take(&2);
        table.put(2, "zwei");
        table.put(3, "drei");
        table.take(&3);
        table.roll_back();

        assert_eq!(table.iter().collect::<Vec<_>>(), [(&1, &"one"), (&2, &"two")]);
    }
}
