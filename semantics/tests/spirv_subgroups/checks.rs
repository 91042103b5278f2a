//! Modules that are refused before anything runs.

use super::*;

fn refusal(body: &str) -> String {
    let text = text(8, "", &format!("{OWN} {body}"));
    match load(&text) {
        Ok(module) => ending(&report(&module, &[0; 8], Some(4), &Schedule::default(), Rules::standard())),
        Err(error) => error.to_string(),
    }
}

#[test]
fn operands_that_vulkan_forbids_are_refused() {
    for (body, says) in [
        ("%r = OpGroupNonUniformIAdd %uint %c2 Reduce %v", "has the execution scope Workgroup; it must be Subgroup"),
        ("%r = OpGroupNonUniformIAdd %uint %v Reduce %v", "is no 32-bit integer constant"),
        ("%r = OpGroupNonUniformIAdd %uint %c3 ClusteredReduce %v %c3", "have 3 invocations; it must be a power of two"),
        ("%r = OpGroupNonUniformIAdd %uint %c3 ClusteredReduce %v %c0", "have 0 invocations; it must be a power of two"),
        ("%r = OpGroupNonUniformIAdd %uint %c3 ClusteredReduce %v %v", "is no 32-bit integer constant"),
        ("%r = OpGroupNonUniformIAdd %uint %c3 ClusteredReduce %v", "does not say how large the clusters are"),
        ("%r = OpGroupNonUniformIAdd %uint %c3 Reduce %v %c4", "only ClusteredReduce has one"),
        ("%r = OpGroupNonUniformFAdd %uint %c3 Reduce %v", "it is for scalars and vectors of floats"),
        ("%r = OpGroupNonUniformLogicalAnd %uint %c3 Reduce %v", "it is for scalars and vectors of Booleans"),
        ("%s = OpBitcast %int %v %r = OpGroupNonUniformUMin %int %c3 Reduce %s", "integers without sign"),
        ("%r = OpGroupNonUniformElect %uint %c3", "it must be a Boolean"),
        ("%r = OpGroupNonUniformAll %bool %c3 %v", "it must be a Boolean"),
        ("%r = OpGroupNonUniformBallot %uint %c3 %yes", "four 32-bit integers without sign"),
        ("%r = OpGroupNonUniformBallotBitCount %uint %c3 Reduce %v", "four 32-bit integers without sign"),
        ("%r = OpGroupNonUniformBroadcast %uint %c3 %v %v", "must be a constant before SPIR-V 1.5"),
        ("%r = OpGroupNonUniformQuadBroadcast %uint %c3 %v %v", "must be a constant before SPIR-V 1.5"),
        ("%r = OpGroupNonUniformQuadSwap %uint %c3 %v %c3", "is 3; it is 0, 1 or 2"),
        ("%r = OpGroupNonUniformShuffle %uint %c3 %v %f0", "it must be an integer without sign"),
        ("%r = OpGroupNonUniformShuffle %float %c3 %v %v", "it must be"),
        (
            "%w = OpCompositeConstruct %u4 %v %v %v %v %r = OpGroupNonUniformBallotBitCount %uint %c3 ClusteredReduce %w",
            "it is Reduce, InclusiveScan or ExclusiveScan",
        ),
    ] {
        let refusal = refusal(body);
        assert!(refusal.contains(says), "{body}\n{refusal}");
    }
}

#[test]
fn capabilities_and_versions_are_asked_for() {
    let of = |text: &str| load(text).map(|_| ()).unwrap_err().to_string();
    let whole = text(8, "", &format!("{OWN} %r = OpGroupNonUniformIAdd %uint %c3 ClusteredReduce %v %c4"));
    let without = |name: &str| whole.replace(&format!("OpCapability {name} "), "").replace(&format!("OpCapability {name}\n"), "");
    assert!(of(&without("GroupNonUniformClustered")).contains("needs a capability that is not declared: GroupNonUniformClustered"));
    assert!(of(&without("GroupNonUniformBallot")).contains("BuiltIn SubgroupEqMask"));
    let scan = whole.replace("ClusteredReduce %v %c4", "Reduce %v");
    let scan = scan.replace("OpCapability GroupNonUniformArithmetic ", "");
    assert!(of(&scan).contains("needs a capability that is not declared: GroupNonUniformArithmetic"), "{}", of(&scan));
    let older = whole.replacen("OpCapability", "; Version: 1.2\nOpCapability", 1);
    assert!(of(&older).contains("needs SPIR-V 1.3, and this is SPIR-V 1.2"), "{}", of(&older));
}
