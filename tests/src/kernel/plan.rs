//! Plans as people write them, made of a few items; JSON, which is YAML too.

use serde_json::{Value, json};

/// The items of a plan, and what holds for all.
#[derive(Debug, Default)]
pub struct Items(Vec<Value>);

/// One item that may change anything below `out/` and `shared/`, checked by one checker.
#[must_use]
pub fn item(id: &str) -> Value {
    json!({
        "id": id,
        "complexity": "S",
        "contract": {
            "goal": format!("Write the file of {id}"),
            "deliverables": ["a file"],
            "acceptance_criteria": [
                { "id": "AC-01", "statement": "the file is there", "checker": "test -d out" },
            ],
            "allowed_scope": { "paths": ["out/", "shared/"] },
        },
    })
}

impl Items {
    /// No items.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Items that need nothing.
    #[must_use]
    pub fn flat(ids: &[&str]) -> Self {
        ids.iter().fold(Self::none(), |items, id| items.with(item(id)))
    }

    /// So many items that need nothing.
    #[must_use]
    pub fn many(count: usize) -> Self {
        (0..count).fold(Self::none(), |items, number| items.with(item(&format!("i{number:03}"))))
    }

    /// And this one.
    #[must_use]
    pub fn with(mut self, item: Value) -> Self {
        self.0.push(item);
        self
    }

    /// And this one, which needs others.
    #[must_use]
    pub fn needing(self, id: &str, needs: &[&str]) -> Self {
        let mut item = item(id);
        item["needs"] = json!(needs);
        self.with(item)
    }

    /// The same with one more key in every item.
    #[must_use]
    pub fn each(mut self, key: &str, value: &Value) -> Self {
        for item in &mut self.0 {
            item[key] = value.clone();
        }
        self
    }

    /// The plan's text.
    #[must_use]
    pub fn text(&self) -> String {
        self.landing("merge")
    }

    /// The plan's text with another landing style.
    #[must_use]
    pub fn text_fast_forward(&self) -> String {
        self.landing("fast-forward")
    }

    fn landing(&self, style: &str) -> String {
        let budgets = json!({ "wall_clock_minutes": 5, "token_budget": 1000 });
        let defaults = json!({ "budgets": budgets });
        json!({ "version": 1, "landing": style, "defaults": defaults, "items": self.0 }).to_string()
    }
}
