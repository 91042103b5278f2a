//! Arrays of descriptors: values worked out by hand, indices that must be dynamically uniform, and
//! what load refuses.

use pretty_assertions::assert_eq;
use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::spirv::environment::BoundImage;

use super::*;

/// An array of three buffers at binding 1, each with unsigned words.
const BUFFERS: &str = "%manyb = OpTypeArray %block %c3 %pmany = OpTypePointer StorageBuffer %manyb %many = OpVariable %pmany StorageBuffer";
const AT_1: &str = "OpDecorate %many DescriptorSet 0 OpDecorate %many Binding 1";

/// Loads the text of [`text`] with the capabilities and extensions of descriptor indexing.
fn indexed(size: u32, decorations: &str, declarations: &str, body: &str) -> Module {
    load(&with_indexing(&text(size, decorations, declarations, body)))
}

fn with_indexing(text: &str) -> String {
    let capabilities = "OpCapability Shader OpCapability ShaderNonUniform OpCapability StorageBufferArrayNonUniformIndexing
        OpCapability RuntimeDescriptorArray OpCapability StorageImageExtendedFormats OpExtension \"SPV_EXT_descriptor_indexing\"";
    text.replacen("OpCapability Shader", capabilities, 1)
}

/// The words of all buffers at the end, in order.
fn words(outcome: &Outcome<Observation>) -> Vec<Vec<u32>> {
    let Outcome::Observed(observation) = outcome else { panic!("{outcome:?}") };
    let words = |bytes: &Vec<u8>| bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect();
    observation.buffers.iter().map(|buffer| words(&buffer.bytes)).collect()
}

/// The buffer of the results, and three of the array.
fn given() -> [Buffer; 4] {
    [buffer(0, &[0; 4]), buffer(1, &[10, 11, 12, 13]), buffer(1, &[20, 21, 22, 23]), buffer(1, &[30, 31, 32, 33, 34])]
}

fn of_three(module: &Module, groups: u32) -> Outcome<Observation> {
    both(module, &dispatch(groups, &given()))
}

/// Invocation i of four writes word i of buffer 1 to word i of the results, and adds 100 to it.
const MIDDLE: &str = "%i = OpLoad %uint %lix %p = OpAccessChain %pword %many %c1 %c0 %i %x = OpLoad %uint %p %y = OpIAdd %uint %x %c100
    OpStore %p %y %q = OpAccessChain %pword %buf %c0 %i OpStore %q %x";

#[test]
fn an_index_selects_the_buffer_and_no_other_changes() {
    let shown = words(&of_three(&indexed(4, AT_1, BUFFERS, MIDDLE), 1));
    assert_eq!(shown, [vec![20, 21, 22, 23], vec![10, 11, 12, 13], vec![120, 121, 122, 123], vec![30, 31, 32, 33, 34]]);
    // Two chains, a copy of the pointer to the buffer, and the length of each buffer.
    let body = "%one = OpAccessChain %pblock %many %c2 %two = OpCopyObject %pblock %one %p = OpAccessChain %pword %two %c0 %c4
        %x = OpLoad %uint %p %n = OpArrayLength %uint %two 0 %r = OpIMul %uint %x %n %q = OpAccessChain %pword %buf %c0 %c0 OpStore %q %r";
    assert_eq!(words(&of_three(&indexed(1, AT_1, BUFFERS, body), 1))[0], [34 * 5, 0, 0, 0]);
}

#[test]
fn arrays_of_arrays_number_their_descriptors_row_by_row() {
    let declarations = "%row = OpTypeArray %block %c2 %manyb = OpTypeArray %row %c2 %pmany = OpTypePointer StorageBuffer %manyb
        %prow = OpTypePointer StorageBuffer %row %many = OpVariable %pmany StorageBuffer";
    let body = "%p = OpAccessChain %pword %many %c1 %c0 %c0 %c0 %x = OpLoad %uint %p
        %line = OpAccessChain %prow %many %c0 %q = OpAccessChain %pword %line %c1 %c0 %c1 %y = OpLoad %uint %q
        %r = OpIAdd %uint %x %y %o = OpAccessChain %pword %buf %c0 %c0 OpStore %o %r";
    let given = [buffer(0, &[0]), buffer(1, &[1, 1]), buffer(1, &[20, 21]), buffer(1, &[300, 301]), buffer(1, &[5, 5])];
    assert_eq!(words(&both(&indexed(1, AT_1, declarations, body), &dispatch(1, &given)))[0], [321]);
}

#[test]
fn an_array_without_a_length_has_what_is_bound() {
    let declarations = BUFFERS.replace("OpTypeArray %block %c3", "OpTypeRuntimeArray %block");
    let body = |index: &str| {
        format!(
            "%p = OpAccessChain %pword %many %{index} %c0 %c0 %x = OpLoad %uint %p %q = OpAccessChain %pword %buf %c0 %c0 OpStore %q %x"
        )
    };
    assert_eq!(words(&of_three(&indexed(1, AT_1, &declarations, &body("c2")), 1))[0][0], 30);
    let outcome = of_three(&indexed(1, AT_1, &declarations, &body("c3")), 1);
    let [id, what] = &shown(&outcome)[..] else { panic!("{outcome:?}") };
    assert_eq!(id, "spirv/access-out-of-bounds");
    assert!(what.contains("OpAccessChain has index 3 (%") && what.ends_with(" of 3"), "{what}");
}

#[test]
fn an_index_out_of_bounds_is_undefined_even_with_robust_access() {
    let module = indexed(1, AT_1, BUFFERS, "%i = OpLoad %uint %lix %k = OpIAdd %uint %i %c3 %p = OpAccessChain %pblock %many %k");
    let given = given();
    for robustness in [Robustness::None, Robustness::Access1, Robustness::Access2] {
        let outcome = both(&module, &with_resources(dispatch(1, &given), |r| r.robustness = robustness));
        assert_eq!(shown(&outcome)[0], "spirv/access-out-of-bounds", "{robustness:?}");
    }
}

/// Four invocations store to a buffer whose number is `%k`.
fn stores(k: &str, decorations: &str) -> Module {
    let body = format!(
        "%i = OpLoad %uint %lix %w3 = OpLoad %u3 %wid3 %w = OpCompositeExtract %uint %w3 0 {k}
        %p = OpAccessChain %pword %many %k %c0 %i OpStore %p %c9"
    );
    indexed(2, &format!("{AT_1} {decorations}"), BUFFERS, &body)
}

#[test]
fn an_index_that_differs_in_a_workgroup_needs_the_decoration() {
    let by_invocation = "%k = OpIAdd %uint %i %c1";
    let outcome = of_three(&stores(by_invocation, ""), 1);
    let [id, what] = &shown(&outcome)[..] else { panic!("{outcome:?}") };
    assert_eq!(id, "spirv/descriptor-not-uniform");
    assert!(what.starts_with("OpStore accesses another descriptor by %"), "{what}");
    assert!(what.contains("than invocation (0,0,0) did, and %") && what.ends_with("is not decorated NonUniform"), "{what}");
    // Not the index or the chain's base, but the operand of the access counts.
    assert_eq!(shown(&of_three(&stores(by_invocation, "OpDecorate %k NonUniform"), 1))[0], "spirv/descriptor-not-uniform");
    let decorated = words(&of_three(&stores(by_invocation, "OpDecorate %p NonUniform"), 1));
    assert_eq!(decorated, [vec![10, 11, 12, 13], vec![9, 21, 22, 23], vec![30, 9, 32, 33, 34]]);
    // Near-misses: the index differs between workgroups only, or is the same in all.
    let by_workgroup = words(&of_three(&stores("%k = OpIAdd %uint %w %c1", ""), 2));
    assert_eq!(by_workgroup, [vec![10, 11, 12, 13], vec![9, 9, 22, 23], vec![9, 9, 32, 33, 34]]);
    let halved = words(&of_three(&stores("%k = OpUDiv %uint %i %c2", ""), 1));
    assert_eq!(halved, [vec![9, 9, 12, 13], vec![20, 21, 22, 23], vec![30, 31, 32, 33, 34]]);
}

/// A loop of three iterations. Two invocations load from buffer `%n` in each iteration `%k` for
/// which `%runs` holds.
fn loops(n: &str, runs: &str) -> Outcome<Observation> {
    let body = format!(
        "%i = OpLoad %uint %lix OpBranch %h %h = OpLabel %k = OpPhi %uint %c0 %entry %k1 %next OpLoopMerge %out %next None OpBranch %b
        %b = OpLabel {n} {runs} OpSelectionMerge %m None OpBranchConditional %runs %then %m
        %then = OpLabel %p = OpAccessChain %pword %many %n %c0 %i %x = OpLoad %uint %p OpBranch %m %m = OpLabel OpBranch %next
        %next = OpLabel %k1 = OpIAdd %uint %k %c1 %more = OpULessThan %bool %k1 %c3 OpBranchConditional %more %h %out %out = OpLabel"
    );
    of_three(&indexed(2, AT_1, BUFFERS, &body), 1)
}

#[test]
fn iterations_are_dynamic_instances_of_their_own() {
    let always = "%runs = OpIEqual %bool %k %k";
    assert_eq!(words(&loops("%n = OpCopyObject %uint %k", always)).len(), 3);
    // Each invocation loads once, in another iteration: no instance has two descriptors.
    assert_eq!(words(&loops("%n = OpCopyObject %uint %k", "%runs = OpIEqual %bool %k %i")).len(), 3);
    // In iteration 1 they differ, in 0 and 2 they do not.
    let differs = "%odd = OpIEqual %bool %k %c1 %n = OpSelect %uint %odd %i %c0";
    assert_eq!(shown(&loops(differs, always))[0], "spirv/descriptor-not-uniform");
    assert_eq!(words(&loops(differs, "%runs = OpINotEqual %bool %k %c1")).len(), 3);
}

#[test]
fn diverged_invocations_may_use_different_descriptors() {
    let body = "%i = OpLoad %uint %lix %is = OpIEqual %bool %i %c0 OpSelectionMerge %m None OpBranchConditional %is %y %n
        %y = OpLabel %p = OpAccessChain %pword %many %c0 %c0 %c0 OpStore %p %c7 OpBranch %m
        %n = OpLabel %q = OpAccessChain %pword %many %c1 %c0 %c0 OpStore %q %c7 OpBranch %m
        %m = OpLabel %same = OpAccessChain %pword %many %c2 %c0 %i OpStore %same %c7";
    let shown = words(&of_three(&indexed(2, AT_1, BUFFERS, body), 1));
    assert_eq!(shown, [vec![7, 11, 12, 13], vec![7, 21, 22, 23], vec![7, 7, 32, 33, 34]]);
}

#[test]
fn elements_are_objects_of_their_own_in_races() {
    let write = |index: &str| format!("%i = OpLoad %uint %lix {index} %p = OpAccessChain %pword %many %k %c0 %c0 OpStore %p %c7");
    let nonuniform = format!("{AT_1} OpDecorate %p NonUniform");
    let apart = words(&of_three(&indexed(2, &nonuniform, BUFFERS, &write("%k = OpCopyObject %uint %i")), 1));
    assert_eq!(apart, [vec![7, 11, 12, 13], vec![7, 21, 22, 23], vec![30, 31, 32, 33, 34]]);
    let race = of_three(&indexed(2, &nonuniform, BUFFERS, &write("%k = OpCopyObject %uint %c1")), 1);
    assert_eq!(shown(&race)[0], "spirv/data-race");
}

#[test]
fn a_function_gets_a_pointer_to_a_descriptor() {
    let declarations = format!("{BUFFERS} %take = OpTypeFunction %uint %pblock");
    let body = "%a = OpAccessChain %pblock %many %c0 %b = OpAccessChain %pblock %many %c2
        %x = OpFunctionCall %uint %first %a %y = OpFunctionCall %uint %first %b %r = OpIAdd %uint %x %y
        %q = OpAccessChain %pword %buf %c0 %c0 OpStore %q %r OpReturn OpFunctionEnd
        %first = OpFunction %uint None %take %to = OpFunctionParameter %pblock %only = OpLabel
        %w = OpAccessChain %pword %to %c0 %c1 %v = OpLoad %uint %w OpReturnValue %v OpFunctionEnd
        %idle = OpFunction %void None %fn %l = OpLabel";
    let with_pointers = with_indexing(&text(1, AT_1, &declarations, body)).replacen(
        "OpCapability ShaderNonUniform",
        "OpCapability ShaderNonUniform OpCapability VariablePointersStorageBuffer OpExtension \"SPV_KHR_variable_pointers\"",
        1,
    );
    let reordered = with_pointers.replacen("OpExtension \"SPV_KHR_variable_pointers\"", "", 1).replacen(
        "OpExtension \"SPV_EXT_descriptor_indexing\"",
        "OpExtension \"SPV_EXT_descriptor_indexing\" OpExtension \"SPV_KHR_variable_pointers\"",
        1,
    );
    assert_eq!(words(&of_three(&load(&reordered), 1))[0][0], 11 + 31);
}

#[test]
fn too_few_resources_are_refused_by_name() {
    let module = indexed(4, AT_1, BUFFERS, MIDDLE);
    let few = both(&module, &dispatch(1, &given()[..3]));
    assert!(shown(&few)[1].ends_with("is an array of 3 descriptors, and the number of buffers at set 0, binding 1 is 2"), "{few:?}");
    let none = both(&module, &dispatch(1, &given()[..1]));
    assert!(shown(&none)[1].contains("no buffer at set 0, binding 1"), "{none:?}");
}

/// Storage images of one texel, by number. Two invocations read image `%k` and write what they saw
/// to the results.
fn images(k: &str, decorations: &str) -> Outcome<Observation> {
    let declarations = "%ri = OpTypeImage %uint 2D 0 0 0 2 R32ui %manyi = OpTypeArray %ri %c2 %pmany = OpTypePointer UniformConstant %manyi
        %many = OpVariable %pmany UniformConstant %pri = OpTypePointer UniformConstant %ri %z2 = OpConstantComposite %u2 %c0 %c0";
    let body = format!(
        "%i = OpLoad %uint %lix {k} %p = OpAccessChain %pri %many %k %im = OpLoad %ri %p %x = OpImageRead %u4 %im %z2
        %r = OpCompositeExtract %uint %x 0 %q = OpAccessChain %pword %buf %c0 %i OpStore %q %r"
    );
    let module = indexed(2, &format!("{AT_1} {decorations}"), declarations, &body);
    let image = |value: u32| {
        let mut image = Image::new(Format::R32Uint, 1, 1, 1).expect("one texel");
        image.fill(0, &value.to_le_bytes()).expect("one texel");
        BoundImage { set: 0, binding: 1, image }
    };
    let (images, buffers) = ([image(50), image(60)], [buffer(0, &[0, 0])]);
    both(&module, &with_resources(dispatch(1, &buffers), |r| r.images = &images))
}

#[test]
fn images_are_chosen_like_buffers() {
    assert_eq!(shown(&images("%k = OpCopyObject %uint %c1", "")), ["60", "60"]);
    assert_eq!(shown(&images("%k = OpCopyObject %uint %i", "OpDecorate %im NonUniform")), ["50", "60"]);
    assert_eq!(shown(&images("%k = OpCopyObject %uint %i", ""))[0], "spirv/descriptor-not-uniform");
    assert_eq!(shown(&images("%k = OpCopyObject %uint %i", "OpDecorate %p NonUniform"))[0], "spirv/descriptor-not-uniform");
}

#[test]
fn load_refuses_what_is_no_array_of_descriptors() {
    let error = |text: &str| {
        let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Module::load(&words).expect_err("it is refused").to_string()
    };
    let runtime = BUFFERS.replace("OpTypeArray %block %c3", "OpTypeRuntimeArray %block");
    let without = error(&text(1, AT_1, &runtime, ""));
    assert!(without.contains("needs the capability RuntimeDescriptorArray"), "{without}");
    let undeclared = error(&with_indexing(&text(1, AT_1, BUFFERS, "")).replace("OpExtension \"SPV_EXT_descriptor_indexing\"", ""));
    assert!(undeclared.contains("needs SPIR-V 1.5 or the extension SPV_EXT_descriptor_indexing"), "{undeclared}");
    let fixed = "%wide = OpTypeArray %uint %c2 %one = OpTypeStruct %wide %manyb = OpTypeArray %one %c3
        %pmany = OpTypePointer StorageBuffer %manyb %many = OpVariable %pmany StorageBuffer";
    let laid_out = format!("{AT_1} OpDecorate %wide ArrayStride 4 OpDecorate %one Block OpMemberDecorate %one 0 Offset 0");
    let moves = ["%both = OpLoad %manyb %many", "%both = OpUndef %manyb OpStore %many %both", "OpCopyMemory %many %many"];
    for (body, name) in moves.into_iter().zip(["OpLoad", "OpStore", "OpCopyMemory"]) {
        let moved = error(&text(1, &laid_out, fixed, body));
        assert!(moved.contains(&format!("{name} of an array of descriptors")), "{moved}");
    }
    let whole = "%inner = OpTypeStruct %c3s %outer = OpTypeStruct %inner %pouter = OpTypePointer StorageBuffer %outer
        %many = OpVariable %pouter StorageBuffer";
    let nested = format!("{AT_1} OpDecorate %inner Block OpDecorate %outer Block OpMemberDecorate %outer 0 Offset 0");
    let nested = error(&text(1, &nested, &whole.replace("%c3s", "%uint"), ""));
    assert!(nested.contains("Blocks are not nested"), "{nested}");
}
