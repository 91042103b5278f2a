//! The lockstep machine with subgroups: numbers of other widths, vectors, workgroups of several
//! warps, and dispatches that the machine leaves to the relation.

use pretty_assertions::assert_eq;
use smallstep_semantics::spirv::lockstep::{Program, Watch};

use super::*;

/// Sums, minima and shuffles of numbers of every width, by both engines. The results are given by
/// their lowest 32 bits.
#[test]
fn numbers_of_every_width_are_combined() {
    let capabilities =
        "OpCapability Int8 OpCapability Int16 OpCapability Int64 OpCapability Float16 OpCapability Float64 OpCapability Shader
        OpCapability GroupNonUniform";
    let declarations = "%w8 = OpTypeInt 8 0 %w16 = OpTypeInt 16 0 %w64 = OpTypeInt 64 0 %f16 = OpTypeFloat 16 %f64 = OpTypeFloat 64";
    let rows = [
        // The type, the conversion of a word to the type and back, and the sum and the minimum of
        // 250 + i.
        ("%w8", "OpUConvert", "OpUConvert", (0..8).map(|i| 250 + i).sum::<u32>() & 0xff, 0),
        ("%w16", "OpUConvert", "OpUConvert", (0..8).map(|i| 250 + i).sum::<u32>(), 250),
        ("%w64", "OpUConvert", "OpUConvert", (0..8).map(|i| 250 + i).sum::<u32>(), 250),
        ("%f16", "OpConvertUToF", "OpConvertFToU", (0..8).map(|i| 250 + i).sum::<u32>() & !1, 250),
        ("%f64", "OpConvertUToF", "OpConvertFToU", (0..8).map(|i| 250 + i).sum::<u32>(), 250),
    ];
    for (type_, there, back, sum, least) in rows {
        let is_float = type_.starts_with("%f");
        let [add, min] = if is_float { ["FAdd", "FMin"] } else { ["IAdd", "UMin"] };
        let of = |instruction: &str| {
            let body = format!("{OWN} %a = {there} {type_} %v %b = {instruction} %r = {back} %uint %b {STORE}");
            let text = text(8, declarations, &body).replacen("OpCapability Shader OpCapability GroupNonUniform", capabilities, 1);
            let words: Vec<u32> = (250..258).collect();
            let report = by_engines(&load(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), &words, Some(8));
            // Half floats are rounded, so devices may have other results. The doubts are left out.
            words_of(&Report { doubtful: Vec::new(), ..report })
        };
        let summed = of(&format!("OpGroupNonUniform{add} {type_} %c3 Reduce %a"));
        // Half floats are rounded, so their sum depends on the order.
        let expected = if type_ == "%f16" { summed[0] } else { Word::Is(sum) };
        assert_eq!(summed, vec![expected; 8], "{type_}");
        assert_eq!(of(&format!("OpGroupNonUniform{min} {type_} %c3 Reduce %a")), vec![Word::Is(least); 8], "{type_}");
        let swapped = of(&format!("OpGroupNonUniformShuffleXor {type_} %c3 %a %c1"));
        let mask = if type_ == "%w8" { 0xff } else { u32::MAX };
        assert_eq!(swapped, (0..8u32).map(|i| Word::Is((250 + (i ^ 1)) & mask)).collect::<Vec<_>>(), "{type_}");
    }
}

/// Workgroups of several warps, the last of them not full, in every order of workgroups and warps.
#[test]
fn subgroups_of_several_warps_are_apart() {
    let body =
        format!("{OWN} %s = OpGroupNonUniformIAdd %uint %c3 InclusiveScan %v %n = OpLoad %uint %number %r = OpIAdd %uint %s %n {STORE}");
    let module = load(&text(200, "", &body)).unwrap();
    let words: Vec<u32> = (0..200).map(|i| i * i).collect();
    for size in [1, 2, 4, 8, 16, 32, 64] {
        let expected = (0..200u32).map(|i| Word::Is((i / size * size..=i).map(|j| j * j).sum::<u32>() + i / size)).collect::<Vec<_>>();
        let report = by_engines(&module, &words, Some(size));
        assert_eq!(words_of(&report), expected, "{size}");
        let (program, buffers) = (Program::compile(&module, "main").unwrap(), [buffer(&words)]);
        for order in 0..6 {
            let (outcome, watched) = program.run_watched(&dispatch(&buffers, Some(size)), Watch { order, ..Watch::default() });
            assert_eq!(outcome, report.outcome, "{size}, order {order}");
            assert!(!watched.diverged);
        }
    }
}

/// The message with which the machine leaves a dispatch to the relation.
#[test]
fn what_the_machine_leaves_to_the_relation_it_names() {
    let of = |body: &str, size, certain: bool| {
        let module = load(&text(8, "", &format!("{OWN} {body} {STORE}"))).unwrap();
        let (program, buffers) = (Program::compile(&module, "main").unwrap(), [buffer(&[0; 8])]);
        let dispatch = dispatch(&buffers, size);
        match if certain { program.run_certain(&dispatch, 1) } else { program.run(&dispatch, 1) } {
            Outcome::Unsupported(what) => what,
            other => other.name().into(),
        }
    };
    let sum = "%r = OpGroupNonUniformIAdd %uint %c3 Reduce %v";
    assert_eq!(of(sum, Some(8), true), "observed");
    assert_eq!(of(sum, None, false), "subgroups without their size in the lockstep machine; --subgroup-size N gives it");
    assert_eq!(of(sum, Some(128), false), "subgroups of 128 invocations in the lockstep machine");
    assert_eq!(of(sum, Some(6), false), "subgroups of 6 invocations in the lockstep machine");
    let parts =
        "%is = OpULessThan %bool %i %c3 OpSelectionMerge %m None OpBranchConditional %is %y %m %y = OpLabel OpBranch %m %m = OpLabel";
    let after = "a group instruction after invocations of a subgroup took several paths, in the lockstep machine";
    assert_eq!(of(&format!("{parts} {sum}"), Some(8), true), after);
    assert_eq!(of(&format!("{parts} {sum}"), Some(8), false), "observed");
    // No subgroup has invocations on both paths.
    assert_eq!(of(&format!("{parts} {sum}").replace("%i %c3", "%i %c4"), Some(4), true), "observed");
    let barrier = format!("{parts} OpControlBarrier %c3 %c3 %acqrel {sum}");
    let passes = "OpControlBarrier of the scope Subgroup after its invocations took several paths, in the lockstep machine";
    assert_eq!(of(&barrier, Some(8), false), passes);
    let floats = "%f = OpConvertUToF %float %v %g = OpGroupNonUniformFAdd %float %c3 Reduce %f %r = OpConvertFToU %uint %g";
    assert_eq!(of(floats, Some(8), false), "observed");
    assert!(of(floats, Some(8), true).ends_with("whose order a device chooses, in the lockstep machine"));
}
