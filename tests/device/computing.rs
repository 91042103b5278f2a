//! Compute programs and the exact bytes of their results.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use smallstep::compile::bindings;
use smallstep::dispatch::{BufferKind, ComputeDispatch, ComputeResult, Dispatch, words_hash};
use smallstep::gpu::{DeviceOutcome, Route};
use smallstep_spec_tests::tools;

use super::modules::{buffer, colour, dispatch as draw, placed, words};
use super::{both_routes, computed, drawn, on_routes, open, options, unchecked};

/// A dispatch with one buffer of `length` zeros, and as many workgroups as `groups` says.
pub fn one_buffer(words: Arc<[u32]>, groups: [u32; 3], length: usize) -> ComputeDispatch {
    let buffers = vec![buffer(0, 0, BufferKind::ReadWrite, vec![0; length])];
    ComputeDispatch { words, entry: "main".into(), groups, buffers, ..ComputeDispatch::default() }
}

fn words_at(result: &ComputeResult, set: u32, binding: u32) -> Vec<u32> {
    let bytes = result.buffer(set, binding).unwrap_or_else(|| panic!("set {set}, binding {binding} is shown"));
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

/// A module with one entry point and workgroups of 4: types, constants 0 to 4, and a buffer of
/// words at set 0, binding 0. `%x` is the number of the global invocation.
pub fn module(header: &str, declarations: &str, body: &str) -> String {
    format!(
        "OpCapability Shader
         {header}
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main \"main\" %id
         OpExecutionMode %main LocalSize 4 1 1
         OpDecorate %id BuiltIn GlobalInvocationId
         OpDecorate %words ArrayStride 4
         OpDecorate %block Block
         OpMemberDecorate %block 0 Offset 0
         OpDecorate %out DescriptorSet 0
         OpDecorate %out Binding 0
         %void = OpTypeVoid
         %function = OpTypeFunction %void
         %bool = OpTypeBool
         %uint = OpTypeInt 32 0
         %vec3 = OpTypeVector %uint 3
         %words = OpTypeRuntimeArray %uint
         %block = OpTypeStruct %words
         %p_block = OpTypePointer StorageBuffer %block
         %p_word = OpTypePointer StorageBuffer %uint
         %p_vec3 = OpTypePointer Input %vec3
         %c0 = OpConstant %uint 0
         %c1 = OpConstant %uint 1
         %c2 = OpConstant %uint 2
         %c3 = OpConstant %uint 3
         %c4 = OpConstant %uint 4
         %id = OpVariable %p_vec3 Input
         %out = OpVariable %p_block StorageBuffer
         {declarations}
         %main = OpFunction %void None %function
         %entry = OpLabel
         %xyz = OpLoad %vec3 %id
         %x = OpCompositeExtract %uint %xyz 0
         %at = OpAccessChain %p_word %out %c0 %x
         {body}
         OpReturn
         OpFunctionEnd"
    )
}

/// Every word becomes `factor` times its index, plus 7.
pub fn multiples(factor: u32) -> Arc<[u32]> {
    words(&module(
        "",
        &format!("%factor = OpConstant %uint {factor}\n %seven = OpConstant %uint 7"),
        "%product = OpIMul %uint %x %factor\n %sum = OpIAdd %uint %product %seven\n OpStore %at %sum",
    ))
}

/// A loop that ends when the first word of the buffer is not 0. Nothing changes that word, so the
/// loop never ends. Each iteration is long for the same reason as in [`super::modules::endless`].
pub fn endless() -> Arc<[u32]> {
    let mut turn = String::new();
    let mut last = "value".to_owned();
    for i in 0..64 {
        turn.push_str(&format!("%m{i} = OpIMul %uint %{last} %odd\n %r{i} = OpShiftRightLogical %uint %m{i} %c3\n "));
        turn.push_str(&format!("%v{i} = OpBitwiseXor %uint %r{i} %m{i}\n "));
        last = format!("v{i}");
    }
    let body = format!(
        "OpBranch %header
         %header = OpLabel
         %value = OpPhi %uint %x %entry %{last} %again
         %flag = OpLoad %uint %first Volatile
         %goes = OpIEqual %bool %flag %c0
         OpLoopMerge %merge %again None
         OpBranchConditional %goes %body %merge
         %body = OpLabel
         OpBranch %again
         %again = OpLabel
         {turn}
         OpBranch %header
         %merge = OpLabel
         OpStore %at %value"
    );
    let first = "%first = OpAccessChain %p_word %out %c0 %c0\n";
    words(&module("", "%odd = OpConstant %uint 2654435761", &format!("{first}{body}")))
}

#[test]
fn words_are_computed_on_both_routes() {
    both_routes(|device| {
        let program = one_buffer(multiples(5), [3, 1, 1], 12);
        let finished = device.run(program.clone());
        assert_eq!(finished.route, device.route());
        let result = computed(finished.outcome);
        assert_eq!(result.words_hash, words_hash(&program.words));
        assert_eq!(words_at(&result, 0, 0), [7, 12, 17, 22, 27, 32, 37, 42, 47, 52, 57, 62]);
    });
}

/// Several threads run programs at the same time. Each gets its own results.
#[test]
fn threads_that_share_a_device_do_not_mix() {
    both_routes(|device| {
        let device = &*device;
        std::thread::scope(|scope| {
            for thread in 1..=4 {
                scope.spawn(move || {
                    for factor in (0..6).map(|i| 10 * thread + i) {
                        let result = computed(device.run(one_buffer(multiples(factor), [1, 1, 1], 4)).outcome);
                        assert_eq!(words_at(&result, 0, 0), [0, 1, 2, 3].map(|x| x * factor + 7));
                    }
                });
            }
        });
        assert_eq!(device.receive(), None, "what was run is waited for");
    });
}

/// Several independent implementations agree on these sums.
///
/// The test does not use naga. llvmpipe's compiler takes many seconds for naga's translation of the
/// sieve's array of 512 words. Also, some of mandel's counts differ (64 of 65,536 on llvmpipe): the
/// module permits contraction, and naga's words are contracted in other places.
#[test]
fn long_programs_leave_the_known_sums() {
    let Some(device) = open(Some(Route::Passthrough), options()) else {
        return;
    };
    let sieve = (include_str!("programs/sieve.spvasm"), [16, 1, 1], 1024, 0x9c8c_f35f);
    let mandel = (include_str!("programs/mandel.spvasm"), [32, 32, 1], 65_536, 0x02fd_c58f);
    for (text, groups, length, sum) in [sieve, mandel] {
        let result = computed(device.run(one_buffer(words(text), groups, length)).outcome);
        assert_eq!(fnv_1a_32(&words_at(&result, 0, 0)), sum);
    }
}

/// FNV-1a, 32 bits, word by word.
fn fnv_1a_32(words: &[u32]) -> u32 {
    words.iter().fold(0x811c_9dc5, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193))
}

/// The set and binding of: the output, a read-only buffer, a uniform buffer, a second output.
type FourPlaces = [(u32, u32); 4];

/// The first output becomes in\[x\] * uniform.y + push. Word 0 of the second output becomes its
/// length in words, and its word x, from 1 on, x exclusive-or 0xff.
fn four_buffers(places: FourPlaces) -> ComputeDispatch {
    let place = |name: &str, (set, binding): (u32, u32)| placed(name, set, binding);
    let text = format!(
        "OpCapability Shader
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main \"main\" %id
         OpExecutionMode %main LocalSize 4 1 1
         OpDecorate %id BuiltIn GlobalInvocationId
         OpDecorate %words ArrayStride 4
         OpDecorate %block Block
         OpMemberDecorate %block 0 Offset 0
         OpDecorate %read Block
         OpMemberDecorate %read 0 Offset 0
         OpMemberDecorate %read 0 NonWritable
         OpDecorate %pair Block
         OpMemberDecorate %pair 0 Offset 0
         OpDecorate %push Block
         OpMemberDecorate %push 0 Offset 0
         OpMemberDecorate %push 1 Offset 4
         OpDecorate %in NonWritable
         {}{}{}{}
         %void = OpTypeVoid
         %function = OpTypeFunction %void
         %uint = OpTypeInt 32 0
         %vec3 = OpTypeVector %uint 3
         %vec4 = OpTypeVector %uint 4
         %words = OpTypeRuntimeArray %uint
         %block = OpTypeStruct %words
         %read = OpTypeStruct %words
         %pair = OpTypeStruct %vec4
         %push = OpTypeStruct %uint %uint
         %p_block = OpTypePointer StorageBuffer %block
         %p_read = OpTypePointer StorageBuffer %read
         %p_word = OpTypePointer StorageBuffer %uint
         %p_pair = OpTypePointer Uniform %pair
         %p_vec4 = OpTypePointer Uniform %vec4
         %p_push = OpTypePointer PushConstant %push
         %p_pushed = OpTypePointer PushConstant %uint
         %p_vec3 = OpTypePointer Input %vec3
         %c0 = OpConstant %uint 0
         %c1 = OpConstant %uint 1
         %mask = OpConstant %uint 0xff
         %id = OpVariable %p_vec3 Input
         %out = OpVariable %p_block StorageBuffer
         %in = OpVariable %p_read StorageBuffer
         %uniform = OpVariable %p_pair Uniform
         %second = OpVariable %p_block StorageBuffer
         %pushed = OpVariable %p_push PushConstant
         %main = OpFunction %void None %function
         %entry = OpLabel
         %xyz = OpLoad %vec3 %id
         %x = OpCompositeExtract %uint %xyz 0
         %p1 = OpAccessChain %p_word %in %c0 %x
         %v1 = OpLoad %uint %p1
         %p2 = OpAccessChain %p_vec4 %uniform %c0
         %v2 = OpLoad %vec4 %p2
         %y = OpCompositeExtract %uint %v2 1
         %p3 = OpAccessChain %p_pushed %pushed %c1
         %v3 = OpLoad %uint %p3
         %product = OpIMul %uint %v1 %y
         %sum = OpIAdd %uint %product %v3
         %p4 = OpAccessChain %p_word %out %c0 %x
         OpStore %p4 %sum
         %length = OpArrayLength %uint %second 0
         %p5 = OpAccessChain %p_word %second %c0 %c0
         OpStore %p5 %length
         %xor = OpBitwiseXor %uint %x %mask
         %next = OpIAdd %uint %x %c1
         %p6 = OpAccessChain %p_word %second %c0 %next
         OpStore %p6 %xor
         OpReturn
         OpFunctionEnd",
        place("out", places[0]),
        place("in", places[1]),
        place("uniform", places[2]),
        place("second", places[3]),
    );
    let at = |i: usize, kind: BufferKind, words: &[u32]| buffer(places[i].0, places[i].1, kind, words.iter().copied());
    ComputeDispatch {
        words: words(&text),
        entry: "main".into(),
        groups: [1, 1, 1],
        // The buffers are not in the order of their places.
        buffers: vec![
            at(3, BufferKind::ReadWrite, &[9; 7]),
            at(2, BufferKind::Uniform, &[1, 1000, 3, 4]),
            at(0, BufferKind::ReadWrite, &[5; 6]),
            at(1, BufferKind::ReadOnly, &[1, 2, 3, 0xffff_ffff]),
        ],
        push_constants: [77u32, 40].into_iter().flat_map(u32::to_le_bytes).collect(),
        ..ComputeDispatch::default()
    }
}

/// By hand: 1000 in\[x\] + 40, modulo 2^32. Words that no invocation writes are unchanged.
fn four_buffers_by_hand(result: &ComputeResult, places: FourPlaces) {
    assert_eq!(words_at(result, places[0].0, places[0].1), [1040, 2040, 3040, 0xffff_fc40, 5, 5]);
    assert_eq!(words_at(result, places[3].0, places[3].1), [7, 0xff, 0xfe, 0xfd, 0xfc, 9, 9]);
    let shown: Vec<_> = result.buffers.iter().map(|b| (b.set, b.binding)).collect();
    assert_eq!(shown, [places[3], places[0]], "in the order of the dispatch, without those that are only read");
}

#[test]
fn several_sets_and_kinds_and_push_constants() {
    let places = [(0, 1), (0, 0), (1, 0), (1, 1)];
    both_routes(|device| four_buffers_by_hand(&computed(device.run(four_buffers(places)).outcome), places));
}

#[test]
fn sparse_places_are_adapted_by_name_or_not_run() {
    let sparse = [(0, 9), (2, 5), (2, 6), (0, 4)];
    let (adapted, places) = bindings::adapt(&four_buffers(sparse)).expect("it can be renumbered");
    let dense = sparse.map(|place| places.adapted(place).expect("it is bound"));
    assert_eq!(dense, [(0, 1), (1, 0), (1, 1), (0, 0)]);
    both_routes(|device| {
        let result = computed(device.run(adapted.clone()).outcome);
        four_buffers_by_hand(&result, dense);
        assert_eq!(result.words_hash, adapted.words_hash(), "the words that ran are the adapted ones");
        assert_ne!(result.words_hash, four_buffers(sparse).words_hash());
        match device.route() {
            Route::Passthrough => unchecked(device, four_buffers(sparse), "the pass `bindings` closes gaps"),
            // naga renumbers bindings itself.
            Route::Naga | Route::Wgsl => four_buffers_by_hand(&computed(device.run(four_buffers(sparse)).outcome), sparse),
        }
    });
}

/// Each workgroup reverses its words through Workgroup memory, with a barrier, and counts its
/// invocations in word 8.
#[test]
fn workgroup_memory_barriers_and_atomics() {
    let text = module(
        "",
        "%four = OpTypeArray %uint %c4
         %p_four = OpTypePointer Workgroup %four
         %p_shared = OpTypePointer Workgroup %uint
         %shared = OpVariable %p_four Workgroup
         %c8 = OpConstant %uint 8
         %scope = OpConstant %uint 2
         %device = OpConstant %uint 1
         %workgroup = OpConstant %uint 264",
        "%lane = OpBitwiseAnd %uint %x %c3
         %mine = OpAccessChain %p_shared %shared %lane
         %given = OpLoad %uint %at
         OpStore %mine %given
         OpControlBarrier %scope %scope %workgroup
         %other_lane = OpISub %uint %c3 %lane
         %other = OpAccessChain %p_shared %shared %other_lane
         %value = OpLoad %uint %other
         OpStore %at %value
         %counter = OpAccessChain %p_word %out %c0 %c8
         %before = OpAtomicIAdd %uint %counter %device %c0 %c1",
    );
    let program = one_buffer(words(&text), [2, 1, 1], 0);
    let program = ComputeDispatch { buffers: vec![buffer(0, 0, BufferKind::ReadWrite, [10, 11, 12, 13, 20, 21, 22, 23, 100])], ..program };
    let Some(device) = open(Some(Route::Passthrough), options()) else {
        return;
    };
    let result = computed(device.run(program).outcome);
    assert_eq!(words_at(&result, 0, 0), [13, 12, 11, 10, 23, 22, 21, 20, 108]);
}

/// Integers of other widths, if the device supports them: the low byte of 200 + 100, the product of
/// 300 and 300 in 16 bits, and 2^32 / 3 in 64 bits.
#[test]
fn other_widths_run_or_are_unchecked_by_name() {
    let Some(device) = open(Some(Route::Passthrough), options()) else {
        return;
    };
    let cases = [
        ("Int8", 8, "OpIAdd", ("200", "100"), 44),
        ("Int16", 16, "OpIMul", ("300", "300"), 24_464),
        ("Int64", 64, "OpUDiv", ("0x100000000", "3"), 0x5555_5555),
    ];
    for (capability, width, op, (a, b), expected) in cases {
        let text = module(
            &format!("OpCapability {capability}"),
            &format!(
                "%other = OpTypeInt {width} 0\n %a = OpConstant %other {a}\n %b = OpConstant %other {b}\n %zero = OpConstant %other 0"
            ),
            // Part of the operand comes from memory, so that nothing is folded on the way.
            &format!(
                "%word = OpLoad %uint %at\n %wide = OpUConvert %other %word\n %left = OpIAdd %other %a %wide
                 %value = {op} %other %left %b\n %result = OpUConvert %uint %value\n OpStore %at %result"
            ),
        );
        match device.run(one_buffer(words(&text), [1, 1, 1], 4)).outcome {
            DeviceOutcome::Unchecked(why) => {
                assert!(why.contains(capability), "{why}");
                assert!(capability != "Int8" || !device.adapter().int8, "{why}");
                tools::not_run(&format!("{capability}: {why}"));
            }
            outcome => assert_eq!(words_at(&computed(outcome), 0, 0), [expected; 4], "{capability}"),
        }
    }
}

#[test]
fn what_the_device_cannot_take_is_unchecked_by_name() {
    let Some(mut device) = open(Some(Route::Passthrough), options()) else {
        return;
    };
    let limits = device.adapter().compute;
    let plain = one_buffer(multiples(1), [1, 1, 1], 4);
    type Alteration = Box<dyn Fn(&mut ComputeDispatch)>;
    let sized = |size: u32| words(&module("", "", "").replace("LocalSize 4 1 1", &format!("LocalSize 1 1 {size}")));
    let shared = |count: u32| {
        let declarations = format!(
            "%count = OpConstant %uint {count}\n %many = OpTypeArray %uint %count\n %p_many = OpTypePointer Workgroup %many
             %p_one = OpTypePointer Workgroup %uint\n %shared = OpVariable %p_many Workgroup"
        );
        words(&module("", &declarations, "%mine = OpAccessChain %p_one %shared %x\n OpStore %mine %x"))
    };
    let four = four_buffers([(0, 0), (0, 1), (0, 2), (0, 3)]);
    let cases: Vec<(&str, ComputeDispatch, Alteration)> = vec![
        ("maxComputeWorkGroupCount", plain.clone(), Box::new(move |d| d.groups[1] = limits.max_workgroups_per_dimension.saturating_add(1))),
        ("maxComputeWorkGroupSize", plain.clone(), Box::new(move |d| d.words = sized(limits.max_workgroup_size[2] + 1))),
        ("maxComputeSharedMemorySize", plain.clone(), Box::new(move |d| d.words = shared(limits.max_workgroup_storage_size / 4 + 1))),
        ("maxPushConstantsSize", plain.clone(), Box::new(move |d| d.push_constants = vec![0; limits.max_push_constants_size as usize + 4])),
        ("maxBoundDescriptorSets", plain.clone(), Box::new(move |d| d.buffers[0].set = limits.max_descriptor_sets)),
        ("multiples of 4", plain.clone(), Box::new(|d| d.buffers[0].bytes.truncate(15))),
        ("no buffer there", plain.clone(), Box::new(|d| d.buffers.clear())),
        ("storage buffer, and is given a uniform", plain.clone(), Box::new(|d| d.buffers[0].kind = BufferKind::Uniform)),
        ("no GLCompute entry point \"absent\"", plain.clone(), Box::new(|d| d.entry = "absent".into())),
        ("1 by 0 by 1", plain.clone(), Box::new(|d| d.groups[1] = 0)),
        ("magic", plain.clone(), Box::new(|d| d.words = Arc::from([1, 2, 3, 4, 5]))),
        ("Kernel", plain.clone(), Box::new(|d| d.words = words(&module("OpCapability Kernel", "", "")))),
        ("8 bytes of push constants, and is given 4", four.clone(), Box::new(|d| d.push_constants.truncate(4))),
        ("set 0, binding 1, and is given no buffer", four, Box::new(|d| drop(d.buffers.remove(3)))),
    ];
    for (expected, mut dispatch, alter) in cases {
        alter(&mut dispatch);
        unchecked(&mut device, dispatch, expected);
    }
    // The same for a fragment program.
    let absent = smallstep::dispatch::FragmentDispatch { entry: "absent".into(), ..draw(colour([0.0; 4]), 2, 2) };
    unchecked(&mut device, absent, "no Fragment entry point \"absent\"; it has Fragment \"main\"");
    assert_eq!(device.restarts(), 0, "none of them reached the driver");
    computed(device.run(plain).outcome);
}

#[test]
fn naga_and_wgpu_refuse_what_does_not_fit() {
    let Some(device) = open(Some(Route::Naga), options()) else {
        return;
    };
    let plain = one_buffer(multiples(1), [1, 1, 1], 4);
    let absent = ComputeDispatch { entry: "absent".into(), ..plain.clone() };
    let missing = ComputeDispatch { buffers: vec![], ..plain.clone() };
    let read_only = ComputeDispatch { buffers: vec![buffer(0, 0, BufferKind::ReadOnly, [0; 4])], ..plain.clone() };
    for dispatch in [absent, missing, read_only] {
        let outcome = device.run(dispatch).outcome;
        assert!(matches!(&outcome, DeviceOutcome::Refused(why) if !why.is_empty()), "{outcome}");
    }
    assert_eq!(device.restarts(), 0, "a refusal costs no worker");
    computed(device.run(plain).outcome);
}

/// Modules that write different values give different buffers and different hashes of words.
#[test]
fn a_module_that_writes_something_else_is_seen_to_differ() {
    on_routes(&Route::ALL, |device| {
        let mut results = Vec::new();
        for factor in [5, 6] {
            results.push(computed(device.run(one_buffer(multiples(factor), [1, 1, 1], 4)).outcome));
        }
        let [five, six] = [&results[0], &results[1]];
        assert_eq!(words_at(five, 0, 0), [7, 12, 17, 22]);
        assert_eq!(words_at(six, 0, 0), [7, 13, 19, 25]);
        assert_ne!(five.buffers, six.buffers);
        let different = five.same_words(six).expect_err("of other words");
        assert_eq!((different.0, different.1), (five.words_hash, six.words_hash));
        assert_eq!(five.same_words(five), Ok(()));
    });
}

/// Programs of all kinds and many sizes run in the same batches. Each gets its own buffers,
/// whatever these held before.
#[test]
fn programs_of_many_kinds_and_sizes_do_not_mix() {
    both_routes(|device| {
        let of = |i: u32| -> Dispatch {
            match i % 4 {
                0 => draw(colour([i as f32, 0.0, 0.0, 1.0]), 1 + i % 7, 1 + i % 5).into(),
                1 if device.route() == Route::Passthrough => four_buffers([(0, 1), (0, 0), (1, 0), (1, 1)]).into(),
                _ => one_buffer(multiples(i), [1 + i % 3, 1, 1], (4 * (1 + i % 3) + i % 9) as usize).into(),
            }
        };
        let programs: Vec<Dispatch> = (0..240).map(of).collect();
        let mut back = vec![0; programs.len()];
        for finished in device.run_all(programs.clone()) {
            let i = finished.id as u32;
            back[i as usize] += 1;
            match &programs[i as usize] {
                Dispatch::Fragment(_) => {
                    assert_eq!(drawn(finished.outcome).images[0][0], [i as f32, 0.0, 0.0, 1.0].map(f32::to_bits));
                }
                Dispatch::Compute(program) if program.buffers.len() > 1 => {
                    four_buffers_by_hand(&computed(finished.outcome), [(0, 1), (0, 0), (1, 0), (1, 1)]);
                }
                Dispatch::Draw(_) => unreachable!("no program is one"),
                Dispatch::Compute(program) => {
                    let result = computed(finished.outcome);
                    let (length, written) = (program.buffers[0].bytes.len() as u32 / 4, 4 * program.groups[0]);
                    let expected: Vec<u32> = (0..length).map(|x| if x < written { x * i + 7 } else { 0 }).collect();
                    assert_eq!(words_at(&result, 0, 0), expected, "program {i}");
                }
            }
        }
        assert_eq!(back, vec![1; programs.len()]);
    });
}

/// A buffer of several megabytes goes to the device and comes back.
#[test]
fn a_large_buffer_goes_there_and_back() {
    both_routes(|device| {
        let length = 3 << 20;
        let given = (0..length as u32).map(|i| i.wrapping_mul(2_654_435_761));
        let program = one_buffer(multiples(3), [1, 1, 1], 0);
        let program = ComputeDispatch { buffers: vec![buffer(0, 0, BufferKind::ReadWrite, given.clone())], ..program };
        let result = computed(device.run(program).outcome);
        let expected: Vec<u32> = [7, 10, 13, 16].into_iter().chain(given.skip(4)).collect();
        assert!(words_at(&result, 0, 0) == expected);
    });
}
