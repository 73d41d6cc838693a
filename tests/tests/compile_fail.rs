//! Kernels that break a rule, each with what `cargo check` says of it.
//!
//! One file a way that a message can go wrong; the rules' own words are tested in the layouts crate. After a change of
//! words, `TRYBUILD=overwrite cargo test -p quadpair-tests --test compile_fail` accepts what is said now.

#[test]
fn broken_rules_fail_the_check_at_the_authors_expression() {
    trybuild::TestCases::new().compile_fail("compile_fail/*.rs");
}
