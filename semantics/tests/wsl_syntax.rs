//! WSL text to core: lexing, parsing, printing, desugaring.

use smallstep_semantics::wsl::parse::parse;

#[test]
fn smoke() {
    let text = "struct S { float4 p : SV_Position; nointerpolation float2 uv : attribute(0); }\n\
      vertex S main(uint id : SV_VertexID, device float4[] b : register(u0, space1)) { S s; s.p = b[id]; int* thread p = &q; a[4] = 2; a[4]*thread x; while (true) x++; return s; }\n\
      int operator+(int a, vector<vector<float,2>> b) { for (int i = 0, j = 1; i < 10; ++i) { if (i > 3) int y = x->z; else ; f()++; } return -1 - -2 * a[3].b; }";
    let (tree, errors) = parse(text);
    assert!(errors.is_empty(), "{errors:#?}");
    let (core, done) = smallstep_semantics::wsl::desugar::desugar(tree);
    println!("{core:#?} {done:?}");
}
