//! How does a server divide into sites with top pages, and who depends on whom?
