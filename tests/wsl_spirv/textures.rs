//! Textures and samplers: each case shows the values computed by hand, in the source and in
//! the module.

use crate::texture_cases::CASES;
use smallstep::compile::wsl::{BindingKind, Options, SamplerUse, translate};
use smallstep::theorem::Verdict;
use smallstep::theorem::wsl::check;
use smallstep_semantics::image::{Compare, Filter, Format, Sampler, Shape};
use smallstep_semantics::spirv;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::group::Ending;
use smallstep_semantics::wsl::library::{Name, TABLE};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::texture::{is_function, is_writable, shape};
use smallstep_semantics::wsl::types::TextureKind;
use smallstep_semantics::wsl::validate::validate;
use std::collections::BTreeSet;

/// The source shows the expected values. The module shows values that the source allows.
#[test]
fn every_case_shows_what_is_expected() {
    let mut wrong = Vec::new();
    for case in CASES {
        case.with(|_, dispatch| {
            let judged = check(dispatch, &Options::default());
            if !matches!(judged, Verdict::Agree | Verdict::Undecided(_)) {
                wrong.push(format!("{judged:?}: {}", dispatch.text));
            }
            let Ending::Shown(shown) = dispatch.run(&Settings::default()) else { panic!("{}", dispatch.text) };
            let place = dispatch.resources.iter().position(|r| r.name == "o").expect("a buffer");
            for (k, expected) in case.expected.iter().enumerate() {
                let found = &shown.buffers[place][k];
                let same = match expected {
                    Some(float) => *found == Possible::Values(vec![float.to_bits()]),
                    None => !matches!(found, Possible::Values(values) if values.len() == 1),
                };
                if !same {
                    wrong.push(format!("o[{k}] is {found:?} and not {expected:?}: {}", dispatch.text));
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A literal, or a vector of `n` such literals.
fn vector(scalar: &str, n: usize, literal: &str) -> String {
    match n {
        1 => literal.into(),
        _ => format!("{scalar}{n}({})", vec![literal; n].join(", ")),
    }
}

/// Calls of the functions of a texture `t` of this kind, with a sampler `s` and a value `v` of its
/// elements: function names and statements.
fn calls(kind: TextureKind) -> Vec<(&'static str, String)> {
    let of = shape(kind);
    let (location, moved) = (vector("float", of.coordinates(), "0.25"), vector("int", of.axes(), "1"));
    let mut calls: Vec<(&str, String)> = Vec::new();
    let mut add = |name: &'static str, arguments: String| calls.push((name, format!("{name}(t, {arguments});")));
    let sides = of.queried().len();
    let pointers = |ty: &str, n: usize| (0..n).map(|k| format!("&{ty}[{k}]")).collect::<Vec<_>>().join(", ");
    add("GetDimensions", pointers("n", sides));
    add("GetDimensions", pointers("f", sides));
    if is_writable(kind) {
        for (scalar, literal) in [("int", "1"), ("uint", "1u")] {
            let at = vector(scalar, of.coordinates(), literal);
            add("Load", at.clone());
            add("Store", format!("v, {at}"));
        }
        return calls;
    }
    add("GetDimensions", format!("1u, {}", pointers("n", sides + 1)));
    let offsets = if of == Shape::Cube { vec![String::new()] } else { vec![String::new(), format!(", {moved}"), ", d".into()] };
    for offset in &offsets {
        let gradient = vector("float", of.directions(), "0.5");
        add("SampleLevel", format!("s, {location}, 0.5{offset}"));
        add("SampleGrad", format!("s, {location}, {gradient}, {gradient}{offset}"));
        if of != Shape::Cube {
            add("Load", format!("{}{offset}", vector("int", of.coordinates() + 1, "1")));
        }
        if matches!(of, Shape::D2 | Shape::D2Array | Shape::Cube) {
            for name in ["Gather", "GatherRed", "GatherGreen", "GatherBlue", "GatherAlpha"] {
                add(name, format!("s, {location}{offset}"));
            }
        }
        add("Sample", format!("s, {location}{offset}"));
        add("SampleBias", format!("s, {location}, 0.5{offset}"));
        if kind.depth() {
            for name in ["SampleCmp", "SampleCmpLevelZero", "GatherCmp"] {
                add(name, format!("s, {location}, 0.5{offset}"));
            }
        }
    }
    calls
}

/// Every function of textures is translated, for every texture and element type, with constant
/// offsets and others. The module loads.
#[test]
fn every_function_of_textures_is_translated() {
    let (mut called, mut wrong, mut count) = (BTreeSet::new(), Vec::new(), 0);
    for kind in TextureKind::ALL {
        let elements: Vec<String> = match kind.depth() {
            true => vec!["float".into()],
            false => ["float", "int", "uint"].iter().flat_map(|s| ["", "2", "3", "4"].map(|n| format!("{s}{n}"))).collect(),
        };
        let offset = match shape(kind).axes() {
            1 => "int".to_string(),
            n => format!("int{n}"),
        };
        for element in &elements {
            for (name, call) in calls(kind) {
                // An unknown offset into a 3D texture has 4096 values.
                if call.contains(", d)") && shape(kind) == Shape::D3 && element != "float" {
                    continue;
                }
                let (stage, result) = match name {
                    "Sample" | "SampleBias" | "SampleCmp" => ("fragment float4", " : SV_Target 0"),
                    _ => ("[numthreads(1, 1, 1)] compute void", ""),
                };
                let last = if result.is_empty() { "" } else { "return float4();" };
                let text = format!(
                    "{stage} main({}<{element}> t : register(t0), sampler s : register(s0)){result} {{
                         {element} v; {offset} d; d = d + d; uint[4] n; float[4] f; {call} {last} }}",
                    kind.name()
                );
                let found = validate(&text);
                let Some(program) = found.program else {
                    wrong.push(format!("{:?}: {text}", found.errors));
                    continue;
                };
                count += 1;
                called.insert(name);
                match translate(&program, &program.entry_points[0], &Options::default()) {
                    Ok(module) => wrong.extend(spirv::Module::load(&module.words).err().map(|e| format!("{e}: {text}"))),
                    Err(refusal) => wrong.push(format!("{refusal}: {text}")),
                }
            }
        }
    }
    println!("{count} calls");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    for row in TABLE.iter().flat_map(|section| section.rows).filter(|row| is_function(row.meaning)) {
        let Name::Function(name) = row.name else { continue };
        assert!(called.contains(name), "{name} is not called");
    }
}

/// A space of registers is a set with dense bindings. A sampler has a binding for each use.
#[test]
fn bindings_are_dense_and_samplers_have_uses() {
    let text = "[numthreads(1, 1, 1)] compute void main(sampler s : register(s0), TextureDepth2D<float> d : register(t0),
         Texture2D<int> i : register(t0, space1), Texture2D<float> unused : register(t9), device float[] o : register(u0)) {
         o[0] = SampleCmpLevelZero(d, s, float2(), 0.5) + SampleLevel(d, s, float2(), 0.0) + float(SampleLevel(i, s, float2(), 0.0)); }";
    let found = validate(text);
    let program = found.program.unwrap_or_else(|| panic!("{:?}", found.errors));
    let module = translate(&program, &program.entry_points[0], &Options::default()).expect("translated");
    let places: Vec<_> = module.bindings.iter().map(|b| (b.register.as_str(), b.set, b.binding)).collect();
    let expected = [("u0", 0, 0), ("t0", 0, 1), ("s0", 0, 2), ("t0", 0, 3), ("s0", 0, 4), ("t0, space1", 1, 0), ("s0", 0, 5)];
    assert_eq!(places, expected);
    let uses: Vec<_> = module.bindings.iter().filter_map(|b| if let BindingKind::Sampler(of) = b.kind { Some(of) } else { None }).collect();
    assert_eq!(uses, [SamplerUse::Compare, SamplerUse::Filter, SamplerUse::Choose]);
}

/// The sampler of a use fits that use. Its other settings are unchanged.
#[test]
fn samplers_fit_their_uses() {
    let given = Sampler { mag: Filter::Linear, min: Filter::Linear, compare: Some(Compare::Less), lod_max: 3.0, ..Sampler::default() };
    let plain = SamplerUse::Filter.fitting(given);
    assert_eq!(plain, Sampler { compare: None, ..given });
    assert_eq!(SamplerUse::Compare.fitting(given), given);
    for format in [Format::R32Sint, Format::Rgba8Uint] {
        assert_eq!(SamplerUse::Choose.fitting(given).check(format, false), Ok(()));
    }
    assert_eq!(SamplerUse::Compare.fitting(plain).check(Format::D32Sfloat, true), Ok(()));
    // A range of levels of detail with crossed ends is invalid in Vulkan, and gives any value
    // in WSL.
    let crossed = SamplerUse::Filter.fitting(Sampler { lod_min: 4.0, lod_max: 1.0, ..given });
    assert!(crossed.lod_min <= crossed.lod_max);
}

/// The format of a writable texture is that of the bound image, or the widest format.
#[test]
fn formats_are_those_of_what_is_bound() {
    let text = "[numthreads(1, 1, 1)] compute void main(RWTexture1D<float2> t : register(u0)) { Store(t, float2(1.0, 2.0), 0); }";
    let program = validate(text).program.expect("valid");
    let format = |formats: &[(String, Format)]| {
        let module = translate(&program, &program.entry_points[0], &Options { formats, ..Options::default() });
        module.map(|module| match module.bindings[0].kind {
            BindingKind::Storage(_, _, format) => format,
            other => panic!("{other:?}"),
        })
    };
    let of = |format: Format| [("u0".to_string(), format)];
    assert_eq!(format(&[]), Ok(Format::Rg32Sfloat));
    assert_eq!(format(&of(Format::Rgba8Snorm)), Ok(Format::Rgba8Snorm));
    assert_eq!(format(&of(Format::D16Unorm)), Ok(Format::R16Unorm));
    let refused = format(&of(Format::Rgb32Sfloat)).expect_err("no storage image has three components").to_string();
    assert!(refused.contains("R32G32B32_SFLOAT"), "{refused}");
}
