//! Sizes and strides, by hand.

use smallstep_semantics::wsl::layout::{Layout, Layouts};
use smallstep_semantics::wsl::validate::validate;

/// The layout of each parameter of the last function, as size and alignment.
fn layouts(text: &str) -> Vec<Option<(u64, u64)>> {
    let program = validate(text).program.unwrap_or_else(|| panic!("refused:\n{}", crate::report(text)));
    let mut layouts = Layouts::default();
    let function = program.env.functions.last().expect("there is one");
    function.parameters.iter().map(|p| layouts.of(&program.env, p.ty).map(|Layout { size, align }| (size, align))).collect()
}

#[test]
fn scalars_vectors_and_matrices() {
    let found = layouts(
        "void f(bool a, int b, uint c, float d, float2 e, float3 g, float4 h, bool3 i, int2 j, float3x2 k, float2x3 l, bool2x4 m) { }",
    );
    let by_hand = [(4, 4), (4, 4), (4, 4), (4, 4), (8, 8), (16, 16), (16, 16), (16, 16), (8, 8), (24, 8), (32, 16), (32, 16)];
    assert_eq!(found, by_hand.map(Some));
}

#[test]
fn structures_arrays_enums_and_references() {
    let text = "enum E : uint { A } struct S { bool a; float b; bool c; } struct T { bool a; S s; float3 v; bool z; } struct N { }
        void f(S a, T b, S[3] c, E d, int[2][5] e, thread int* g, device float[] h, N n, bool[7] i) { }";
    let by_hand = [(12, 4), (48, 16), (36, 4), (4, 4), (40, 4), (8, 8), (16, 8), (0, 1), (28, 4)];
    assert_eq!(layouts(text), by_hand.map(Some));
    let program = validate(text).program.expect("it is valid");
    let mut layouts = Layouts::default();
    let offsets: Vec<Vec<u64>> =
        (0..3).map(|i| layouts.offsets(&program.env, smallstep_semantics::wsl::types::StructId(i)).expect("it fits").to_vec()).collect();
    assert_eq!(offsets, [vec![0, 4, 8], vec![0, 4, 16, 32], vec![]]);
}

#[test]
fn what_is_too_large_has_no_layout() {
    let found = layouts("void f(float4x4[4294967295] a, int[4294967295][4294967295] b, int[4294967295][4294967295][4294967295] c) { }");
    assert_eq!(found, [Some((64 * 4_294_967_295, 16)), None, None]);
}
