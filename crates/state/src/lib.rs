//! The frontier's rows, the seen set and the visit log; one atomic commit of events.
