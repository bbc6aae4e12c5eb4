//! Is this content the same, near, or changed, and by how much?
