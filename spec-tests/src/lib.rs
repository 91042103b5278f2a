//! Spec-tests: the runner.
