//! WARC files and their CDXJ indexes: append, recover, read back, verify.
