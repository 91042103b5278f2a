//! The table of the uniformity of library functions, compared with other tables.

use smallstep_semantics::uniformity::table::{self, Load, Need, ResultUniformity};
use smallstep_semantics::wsl::entry::{EntryPoint, Item, Stage};
use smallstep_semantics::wsl::environment::access::Callee;
use smallstep_semantics::wsl::library::pattern::Pattern;
use smallstep_semantics::wsl::library::{Meaning, Stages, TABLE};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::typing::program::{Expr, Form, Program};
use smallstep_semantics::wsl::validate;

fn program(text: &str) -> Program {
    let validated = validate::validate(text);
    validated.program.unwrap_or_else(|| panic!("{:?}\n{text}", validated.errors))
}

/// A library function is a barrier if and only if it is for compute stages alone. It needs
/// derivatives if and only if it is for fragment stages alone. The library's table has the
/// stages independently.
#[test]
fn needs_are_those_of_the_stages() {
    let mut needs = [0; 2];
    for row in TABLE.iter().flat_map(|section| section.rows) {
        let expected = match row.stages {
            Stages::ALL => None,
            Stages::COMPUTE => Some(Need::Barrier),
            Stages::FRAGMENT => Some(Need::Derivative),
            other => panic!("{:?} is for {}", row.name, other.text()),
        };
        assert_eq!(table::need(row.meaning), expected, "{:?}", row.name);
        if let Some(need) = expected {
            needs[need as usize] += 1;
        }
    }
    assert_eq!(needs, [3, 12]);
}

/// A library function stores through pointers if and only if it has pointers after its
/// first argument.
#[test]
fn what_is_stored_is_stored_through_pointers() {
    for row in TABLE.iter().flat_map(|section| section.rows) {
        for signature in row.signatures {
            let pointers = signature.parameters.iter().skip(1).any(|p| matches!(p, Pattern::Pointer(..)));
            assert_eq!(table::stored(row.meaning).is_some(), pointers, "{:?}", row.name);
        }
    }
    assert_eq!(table::stored(Meaning::InterlockedAdd), Some(ResultUniformity::Varies));
    assert_eq!(table::stored(Meaning::Modf), Some(ResultUniformity::AsArguments));
}

#[test]
fn loads_are_as_their_address_space() {
    let loads = AddressSpace::ALL.map(table::load);
    assert_eq!(loads, [Load::Uniform, Load::Varies, Load::Varies, Load::AsStored]);
}

fn inputs(text: &str) -> Vec<(String, bool)> {
    let program = program(text);
    let of = |entry: &EntryPoint| {
        let item = |item: &Item| (program.env.names.name(item.name.expect("a name")).to_string(), table::input(entry.stage, item));
        entry.inputs.iter().map(item).collect::<Vec<_>>()
    };
    program.entry_points.iter().flat_map(of).collect()
}

#[test]
fn inputs_are_as_their_stage() {
    let compute = |threads: &str| {
        inputs(&format!(
            "[numthreads({threads})] compute void main(uint3 g : SV_GroupID, uint3 d : SV_DispatchThreadID, uint i : SV_GroupIndex, \
             uint3 t : SV_GroupThreadID, device int[] b : register(u0)) {{ }}"
        ))
    };
    let uniform = |of: Vec<(String, bool)>| of.into_iter().filter(|i| i.1).map(|i| i.0).collect::<Vec<_>>().concat();
    assert_eq!(uniform(compute("2, 1, 1")), "gb");
    assert_eq!(uniform(compute("1, 1, 1")), "gditb");
    let fragment = inputs(
        "fragment float4 main(bool f : SV_IsFrontFace, uint s : SV_SampleIndex, uint c : SV_InnerCoverage, nointerpolation int a : attribute(0), \
         float k : specialized, Texture2D<float4> x : register(t0), sampler y : register(s0)) : SV_Target 0 { return float4(0, 0, 0, 0); }",
    );
    assert_eq!(uniform(fragment), "kxy");
    let vertex = inputs(
        "vertex float4 main(uint i : SV_InstanceID, uint v : SV_VertexID, float a : attribute(0), int k : specialized) : SV_Position \
         { return float4(0, 0, 0, 0); }",
    );
    assert_eq!(uniform(vertex), "k");
    assert!(table::single(Stage::Compute([1, 1, 1])) && !table::single(Stage::Compute([1, 2, 1])) && !table::single(Stage::Fragment));
}

/// Loads from writable textures vary, and loads from other textures do not.
#[test]
fn texels_are_as_their_texture() {
    let program = program(
        "float a(Texture2D<float> t) { return Load(t, int3(0, 0, 0)); } float b(RWTexture2D<float> t) { return Load(t, int2(0, 0)); } \
         float c(float x) { return cos(x); }",
    );
    let library = |e: &Expr| match e.form {
        Form::Call(Callee::Library(f), _) if matches!(f.meaning(), Meaning::Load | Meaning::Cos) => {
            Some(table::result(&program.env.types, f))
        }
        _ => None,
    };
    let results: Vec<ResultUniformity> = program.exprs.iter().filter_map(library).collect();
    assert_eq!(results, [ResultUniformity::AsArguments, ResultUniformity::Varies, ResultUniformity::AsArguments]);
}
