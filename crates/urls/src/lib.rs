//! Which URL is this really, is it in scope, is it a trap?
