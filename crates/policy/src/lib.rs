//! Given estimates, importance and a budget: when should each page be fetched next?

pub mod index;
