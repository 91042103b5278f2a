//! The inputs that `smallstep compare` draws: the values, lengths and numbers of workgroups at each
//! level. Also that the text of an input reads back.

use std::collections::BTreeSet;

use smallstep::compute::ComputeModule;
use smallstep::compute::given::{Assignment, Contents, Place};
use smallstep::theorem::refine::input::{DRAFTS, Slot};
use smallstep::theorem::refine::{Engine, Input, Settings, Shape, Side};
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::{Module, Options, assemble};

/// The types of numbers: name, width in bits, and the text of the declaration.
const NUMBERS: [(&str, u8, &str); 11] = [
    ("u8", 8, "OpTypeInt 8 0"),
    ("i8", 8, "OpTypeInt 8 1"),
    ("u16", 16, "OpTypeInt 16 0"),
    ("i16", 16, "OpTypeInt 16 1"),
    ("u32", 32, "OpTypeInt 32 0"),
    ("i32", 32, "OpTypeInt 32 1"),
    ("u64", 64, "OpTypeInt 64 0"),
    ("i64", 64, "OpTypeInt 64 1"),
    ("f16", 16, "OpTypeFloat 16"),
    ("f32", 32, "OpTypeFloat 32"),
    ("f64", 64, "OpTypeFloat 64"),
];

/// The members of a block: an offset and a type each. A type is a number, `vector` of three floats,
/// `sixteen` unsigned numbers, or a runtime array `run_…` of a number or of vectors.
type Block = &'static [(u32, &'static str)];

/// A module whose workgroups have `size` invocations. It uses storage buffers at 0.0, 0.1 and so
/// on, and push constants.
fn module(size: u32, buffers: &[Block], push: Option<Block>) -> String {
    let mut decorations = String::new();
    let mut types = String::new();
    let mut variables = String::new();
    let mut uses = String::new();
    for (name, width, declared) in NUMBERS {
        types += &format!("%{name} = {declared}\n");
        types += &format!("%run_{name} = OpTypeRuntimeArray %{name}\n");
        decorations += &format!("OpDecorate %run_{name} ArrayStride {}\n", width / 8);
    }
    let blocks = buffers.iter().map(|block| (*block, "StorageBuffer")).chain(push.map(|block| (block, "PushConstant")));
    for (k, (block, class)) in blocks.enumerate() {
        for (member, (offset, _)) in block.iter().enumerate() {
            decorations += &format!("OpMemberDecorate %block{k} {member} Offset {offset}\n");
        }
        decorations += &format!("OpDecorate %block{k} Block\n");
        if class == "StorageBuffer" {
            decorations += &format!("OpDecorate %buffer{k} DescriptorSet 0\nOpDecorate %buffer{k} Binding {k}\n");
        }
        let members: String = block.iter().map(|(_, type_)| format!(" %{type_}")).collect();
        variables += &format!("%block{k} = OpTypeStruct{members}\n%pointer{k} = OpTypePointer {class} %block{k}\n");
        variables += &format!("%buffer{k} = OpVariable %pointer{k} {class}\n");
        uses += &format!("%use{k} = OpAccessChain %pointer{k} %buffer{k}\n");
    }
    format!(
        r#"OpCapability Shader
OpCapability Int8
OpCapability Int16
OpCapability Int64
OpCapability Float16
OpCapability Float64
OpCapability StorageBuffer8BitAccess
OpCapability StorageBuffer16BitAccess
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpExtension "SPV_KHR_8bit_storage"
OpExtension "SPV_KHR_16bit_storage"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize {size} 1 1
OpDecorate %sixteen ArrayStride 4
OpDecorate %run_vector ArrayStride 16
{decorations}%void = OpTypeVoid
%function = OpTypeFunction %void
{types}%vector = OpTypeVector %f32 3
%run_vector = OpTypeRuntimeArray %vector
%n16 = OpConstant %u32 16
%sixteen = OpTypeArray %u32 %n16
{variables}%main = OpFunction %void None %function
%entry = OpLabel
{uses}OpReturn
OpFunctionEnd
"#
    )
}

fn side(text: &str) -> Side {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{}:{}: {}", e.line, e.column, e.what));
    let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
    Side::new("BEFORE", ComputeModule::new(module, None).expect("one entry point"), None)
}

fn shape<'m>(side: &'m Side, settings: &Settings) -> Shape<'m> {
    Shape::of(side, settings).unwrap_or_else(|e| panic!("{e}"))
}

fn alone() -> Settings {
    Settings { groups: Some([1; 3]), ..Settings::default() }
}

fn place(binding: u32) -> Place {
    Place::new(0, binding)
}

/// The numbers in a slot's buffer, as bits.
fn numbers(shape: &Shape<'_>, slot: &Slot, input: &Input) -> Vec<u64> {
    let bytes = input.at(slot.place);
    let cells = shape.cells(slot, bytes.len() as u64).into_iter();
    let held = cells.map(|cell| {
        let width = usize::from(cell.type_.width().expect("a number") / 8);
        bytes[cell.offset as usize..cell.offset as usize + width].iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
    });
    held.collect()
}

/// A runtime array of each type of numbers.
const ARRAYS: [Block; 11] = [
    &[(0, "run_u8")],
    &[(0, "run_i8")],
    &[(0, "run_u16")],
    &[(0, "run_i16")],
    &[(0, "run_u32")],
    &[(0, "run_i32")],
    &[(0, "run_u64")],
    &[(0, "run_i64")],
    &[(0, "run_f16")],
    &[(0, "run_f32")],
    &[(0, "run_f64")],
];

/// The number of levels. Input k has level k modulo 4 in its first draft, from the tamest to
/// the wildest.
const LEVELS: u64 = 4;

/// All numbers that come up in this draft of that many inputs, by type of number and by level.
fn drawn(draft: u32, inputs: u64) -> Vec<[Vec<u64>; 4]> {
    let side = side(&module(20, &ARRAYS, None));
    let shape = shape(&side, &alone());
    let mut drawn = vec![[const { Vec::new() }; 4]; ARRAYS.len()];
    for index in 0..inputs {
        let input = shape.draw(&alone(), index, draft);
        for (of_type, slot) in drawn.iter_mut().zip(&shape.slots) {
            of_type[(index % LEVELS) as usize].extend(numbers(&shape, slot, &input));
        }
    }
    drawn
}

/// How many of a thousand values satisfy a predicate.
fn permille(values: &[u64], is: impl Fn(u64) -> bool) -> usize {
    1000 * values.iter().filter(|&&value| is(value)).count() / values.len().max(1)
}

/// Tame integers are indices in bounds and, with a few exceptions, divisors. Wild integers are the
/// values at which arithmetic changes, and any bits of any length.
#[test]
fn integers_go_from_tame_to_wild() {
    let drawn = drawn(0, 480);
    for ((name, width, _), levels) in NUMBERS.into_iter().zip(&drawn).take(8) {
        let [tame, mild, bold, wild] = levels;
        assert!(tame.iter().all(|&value| value <= 5), "{name}: {:?}", tame.iter().max());
        assert!((1..=5).all(|value| tame.contains(&value)), "{name}");
        assert!((5..100).contains(&permille(tame, |value| value == 0)), "{name}: 0 is rare and comes up");
        assert!(mild.iter().all(|&value| value < 100) && mild.iter().any(|&value| value >= 16), "{name}: {:?}", mild.iter().max());
        assert!(permille(mild, |value| value < 16) > 800, "{name}");
        if width >= 32 {
            assert!(permille(bold, |value| value < 16) > 640, "{name}: most values are small still");
        }
        let (least, all) = (1u64 << (width - 1), u64::MAX >> (64 - width));
        let edges = [0, 1, 2, 3, all, all - 1, least, least - 1, least + 1, u64::from(width), u64::from(width) - 1];
        for edge in edges {
            assert!(permille(wild, |value| value == edge) >= 8, "{name}: {edge:#x} in {} of 1000", permille(wild, |value| value == edge));
            assert!(bold.contains(&edge), "{name}: {edge:#x}");
        }
        for power in (0..width).map(|k| 1u64 << k) {
            assert!(wild.contains(&power) && wild.contains(&(power - 1)), "{name}: {power:#x}, and one less");
        }
        if width == 64 {
            let length = |value: u64| 64 - value.leading_zeros();
            let mixed = |value: u64| (length(value) / 4..=3 * length(value) / 4).contains(&value.count_ones());
            assert!(permille(wild, |value| value >= least && mixed(value)) >= 10, "{name}: any bits");
            assert!(permille(wild, |value| (16..=48).contains(&length(value)) && mixed(value)) >= 10, "{name}: any length");
        }
        assert_eq!(wild.iter().filter(|&&value| value > all).count(), 0, "{name}");
    }
}

fn value(width: u8, bits: u64) -> f64 {
    match width {
        16 => {
            let (exponent, fraction) = (bits >> 10 & 31, (bits & 1023) as f64);
            let magnitude = match exponent {
                0 => fraction * 2f64.powi(-24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1024.0 + fraction) * 2f64.powi(exponent as i32 - 25),
            };
            if bits >> 15 == 1 { -magnitude } else { magnitude }
        }
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Tame floats are small positive numbers. Wild floats are zeros, infinities, NaNs, the ends of the
/// subnormal and of the normal numbers, and any bits.
#[test]
fn floats_go_from_tame_to_wild() {
    let drawn = drawn(0, 480);
    for ((name, width, _), levels) in NUMBERS.into_iter().zip(&drawn).skip(8) {
        let (exponent, fraction) = match width {
            16 => (5, 10),
            32 => (8, 23),
            _ => (11, 52),
        };
        let values = |level: usize| levels[level].iter().map(|&bits| value(width, bits)).collect::<Vec<f64>>();
        let (tame, mild) = (values(0), values(1));
        assert!(tame.iter().all(|value| (0.25..=18.0).contains(value)), "{name}");
        assert!([0.25, 1.0, 18.0].iter().all(|value| tame.contains(value)), "{name}: the ends, and one");
        assert!(mild.iter().all(|value| value.abs() <= 18.0 && (*value == 0.0 || value.abs() >= 0.009)), "{name}");
        let rounded = mild.iter().filter(|value| value.fract() * 8.0 % 1.0 != 0.0).count();
        assert!(rounded * 10 > mild.len(), "{name}: floats that round: {rounded} of {}", mild.len());
        assert!([0.0, -1.0, 1.0].iter().all(|value| mild.contains(value)), "{name}: a zero, and both signs");
        let small = values(2).iter().filter(|value| (0.009..=18.0).contains(&value.abs())).count();
        assert!(small * 10 > values(2).len() * 4, "{name}: most values are small still: {small} of {}", values(2).len());

        let sign = 1u64 << (width - 1);
        let infinity = sign - (1 << fraction);
        assert_eq!(infinity >> fraction, (1 << exponent) - 1, "{name}: all ones in the exponent");
        let specials = [
            ("zero", 0),
            ("minus zero", sign),
            ("infinity", infinity),
            ("minus infinity", sign | infinity),
            ("a quiet NaN", infinity | 1 << (fraction - 1)),
            ("a signalling NaN", infinity | 1),
            ("the greatest number", infinity - 1),
            ("the least subnormal number", 1),
            ("the greatest subnormal number", (1 << fraction) - 1),
            ("the least normal number", 1 << fraction),
        ];
        let wild = &levels[3];
        for (what, bits) in specials {
            assert!(permille(wild, |value| value == bits) >= 5, "{name}: {what}");
        }
        assert!(values(3).iter().any(|value| (900.0..=2700.0).contains(value) && value.abs() >= 900.0), "{name}: hundreds");
        if width > 16 {
            let mixed = |bits: u64| {
                let low = bits & ((1 << fraction) - 1);
                (u32::from(width) / 4..=u32::from(width) / 2).contains(&low.count_ones()) && low & 1 == 1
            };
            assert!(permille(wild, mixed) >= 5, "{name}: any bits: {}", permille(wild, mixed));
        }
    }
}

/// Every second draft is one level tamer. Seed, number and draft determine an input.
#[test]
fn later_drafts_are_tamer() {
    let u32s = |draft| drawn(draft, 120).swap_remove(4);
    let second = u32s(1);
    assert!(second[3].contains(&u64::from(u32::MAX)), "the second draft has other lengths, and one workgroup");
    let third = u32s(2);
    assert!(third[1].iter().all(|&value| value <= 5) && third[2].iter().all(|&value| value < 100));
    assert!(third[3].contains(&u64::from(u32::MAX)));
    assert!(u32s(DRAFTS - 1).iter().flatten().all(|&value| value <= 5), "the last draft is tame");
    assert_eq!(u32s(0), u32s(0));
}

/// Each member is drawn at its own level, so one may be wild while another is tame.
#[test]
fn members_are_as_wild_as_they_like() {
    let side = side(&module(1, &[&[(0, "sixteen"), (64, "sixteen")]], None));
    let shape = shape(&side, &alone());
    let inputs = (0..400).map(|k| numbers(&shape, &shape.slots[0], &shape.draw(&alone(), k * LEVELS + 3, 0)));
    let apart = inputs.filter(|numbers| {
        let (first, second) = numbers.split_at(16);
        first.iter().all(|&value| value <= 5) && second.iter().any(|&value| value >= 100)
    });
    assert!(apart.count() > 0);
}

/// First, a runtime array has room for every invocation. Wilder inputs have just enough room, one
/// element too few, or the least that is allowed. Later drafts have more and more room.
#[test]
fn arrays_have_room_for_every_invocation_or_not() {
    let side = side(&module(
        20,
        &[&[(0, "run_u32")], &[(0, "u32"), (4, "run_u32")], &[(0, "run_vector")], &[(0, "u64"), (8, "u8")], &[(0, "u8")]],
        None,
    ));
    let settings = Settings { groups: Some([3, 1, 1]), ..Settings::default() };
    let shape = shape(&side, &settings);
    let lengths = |slot: usize, level: u64, draft: u32| -> BTreeSet<u64> {
        let drafts = (0..300).map(|k| shape.draw(&settings, k * LEVELS + level, draft));
        let slot = &shape.slots[slot];
        let each = |input: Input| {
            let bytes = input.at(slot.place).len() as u64;
            assert!(bytes >= slot.min_bytes.max(1), "a buffer has a byte, and what its type says");
            slot.stride.map_or(bytes, |stride| (bytes - slot.min_bytes) / stride)
        };
        drafts.map(each).collect()
    };
    let enough = BTreeSet::from([60, 120, 240, 480]);
    assert_eq!(lengths(0, 0, 0), enough);
    assert_eq!(lengths(0, 1, 0), enough);
    assert_eq!(lengths(0, 2, 0), &enough | &BTreeSet::from([59]), "one too few");
    let tightest = lengths(1, 3, 0);
    let allowed = &enough | &(0..=20).chain(59..=63).collect();
    assert!(tightest.is_subset(&allowed), "{tightest:?}");
    assert!(tightest.contains(&0) && tightest.range(3..=20).count() > 5 && tightest.range(61..=63).count() == 3, "{tightest:?}");
    assert!(!lengths(0, 3, 0).contains(&0), "an array at the start has an element");
    assert_eq!(lengths(0, 3, 1), enough, "the second draft has room");
    assert_eq!(lengths(0, 3, 2), BTreeSet::from([240, 480, 960, 1920]), "the third has more");
    assert!(lengths(0, 3, DRAFTS - 1).iter().all(|length| length % 60 == 0 && *length >= 3840));
    assert_eq!(*lengths(2, 0, DRAFTS - 1).last().expect("lengths"), (1 << 18) / 16, "no array has more than 256 KiB");
    assert_eq!(lengths(3, 3, 0), BTreeSet::from([9]), "without a runtime array it is what the type says");
    assert_eq!(lengths(4, 3, 0), BTreeSet::from([4]), "and a word at least");
}

/// Dispatches have one workgroup, several along x, or several along other axes, with 256
/// invocations at most.
#[test]
fn a_few_workgroups_are_dispatched() {
    let all = |size: u32, levels: std::ops::Range<u64>| -> BTreeSet<[u32; 3]> {
        let side = side(&module(size, &[&[(0, "u32")]], None));
        let settings = Settings::default();
        let shape = shape(&side, &settings);
        levels.flat_map(|level| (0..200).map(move |k| k * LEVELS + level)).map(|index| shape.draw(&settings, index, 0).groups).collect()
    };
    let row = |most: u32| (1..=most).map(|x| [x, 1, 1]).collect::<BTreeSet<_>>();
    for (size, planes) in [(1, vec![[2, 2, 1], [3, 2, 1]]), (64, vec![[2, 2, 1]])] {
        for level in 0..LEVELS {
            let expected = &row(4) | &planes.iter().copied().chain([[1, 1, 2], [1, 2, 1]]).collect();
            assert_eq!(all(size, level..level + 1), expected, "{size} invocations at level {level}");
        }
    }
    for size in [100, 128] {
        assert_eq!(all(size, 0..4), &row(2) | &BTreeSet::from([[1, 1, 2], [1, 2, 1]]), "{size} invocations");
    }
    assert_eq!(all(256, 0..4), row(1));
}

/// The arguments contain everything that an input holds. An argument is typed if all numbers of the
/// buffer have one type and fill it.
#[test]
fn the_text_of_an_input_reads_back() {
    let mixed: [Block; 4] = [&[(0, "f32"), (4, "u32")], &[(0, "u32"), (4, "f32")], &[(0, "run_vector")], &[(0, "u32"), (4, "u16")]];
    let buffers: Vec<Block> = mixed.into_iter().chain(ARRAYS).collect();
    let names: Vec<&str> = ["u32", "u32", "u32", "u8"].into_iter().chain(NUMBERS.map(|(name, ..)| name)).collect();
    let pushed: [(Block, &str); 2] = [(&[(0, "f32"), (4, "f32")], "f32"), (&[(0, "f32"), (4, "i32")], "u32")];
    for (push, push_name) in pushed {
        let side = side(&module(4, &buffers, Some(push)));
        let settings = Settings::default();
        let shape = shape(&side, &settings);
        assert_eq!(shape.slots.iter().map(|slot| slot.place).collect::<Vec<_>>(), (0..15).map(place).collect::<Vec<_>>());
        for index in 0..40 {
            let input = shape.draw(&settings, index, 0);
            let arguments = shape.arguments(&input);
            let mut read = Input { groups: [1; 3], ..Input::default() };
            for pair in arguments.chunks(2) {
                let [option, text] = pair else { panic!("{arguments:?}") };
                match option.as_str() {
                    "--groups" => {
                        let groups: Vec<u32> = text.split(',').map(|n| n.parse().expect("a number")).collect();
                        assert_ne!(groups, [1; 3], "one workgroup needs no mention");
                        read.groups = groups.try_into().expect("three");
                    }
                    "--set" => {
                        let Assignment { place, given: Contents::Bytes(bytes) } = text.parse().expect("an assignment") else {
                            panic!("{text}")
                        };
                        assert_eq!(bytes, input.at(place), "{text}");
                        let name = names[place.binding as usize];
                        assert!(index % LEVELS > 1 || text.starts_with(&format!("{place}={name}:")), "{text}");
                        let slot = &input.buffers[read.buffers.len()];
                        assert_eq!((slot.set, slot.binding), (place.set, place.binding));
                        read.buffers.push(smallstep_semantics::spirv::Buffer { bytes, ..slot.clone() });
                    }
                    "--push" => {
                        assert_eq!(Some(text), shape.push_text(&input).as_ref());
                        assert!(index % LEVELS > 1 || text.starts_with(&format!("{push_name}:")), "{text}");
                        let Contents::Bytes(bytes) = text.parse().expect("values") else { panic!("{text}") };
                        read.push_constants = bytes;
                    }
                    other => panic!("{other}"),
                }
            }
            assert_eq!(read, input);
            assert_eq!(input.push_constants.len(), 8);
        }
    }
}

/// A pinned buffer keeps its contents. It may be longer than the module needs, but not shorter. The
/// other inputs vary.
#[test]
fn what_is_given_does_not_vary() {
    let side = side(&module(4, &[&[(0, "f32"), (4, "u32")], &[(0, "run_u32")]], Some(&[(0, "f32"), (4, "i32")])));
    let given = |bytes: usize, push: usize| Settings {
        pinned: vec![(place(0), vec![7; bytes])],
        push: Some(vec![9; push]),
        groups: Some([2, 1, 3]),
        ..Settings::default()
    };
    for settings in [given(8, 8), given(12, 16)] {
        let shape = shape(&side, &settings);
        let inputs: Vec<Input> = (0..20).map(|index| shape.draw(&settings, index, 0)).collect();
        for input in &inputs {
            assert_eq!((input.groups, input.at(place(0))), ([2, 1, 3], settings.pinned[0].1.as_slice()));
            assert_eq!(Some(&input.push_constants), settings.push.as_ref());
            assert!(input.at(place(7)).is_empty());
        }
        assert!(inputs.iter().any(|input| input.at(place(1)) != inputs[0].at(place(1))));
    }
    let refused = |settings: Settings| Shape::of(&side, &settings).expect_err("too short").0;
    let said = refused(given(7, 8));
    assert!(said.contains("at 0.0 has 7 bytes; it needs 8"), "{said}");
    assert_eq!(refused(given(8, 7)), "the push constants have 7 bytes; BEFORE needs 8");
}

/// Two variables may use one buffer, which has room for both.
#[test]
fn a_place_has_one_buffer() {
    let text = module(4, &[&[(0, "u32")], &[(0, "f32"), (4, "f32")]], None).replace("%buffer1 Binding 1", "%buffer1 Binding 0");
    let side = side(&text);
    let shape = shape(&side, &alone());
    assert_eq!(shape.slots.iter().map(|slot| (slot.place, slot.min_bytes)).collect::<Vec<_>>(), [(place(0), 8)]);
    let input = shape.draw(&alone(), 0, 0);
    assert_eq!(input.buffers.iter().map(|buffer| buffer.bytes.len()).collect::<Vec<_>>(), [8]);
    assert_eq!(shape.cells(&shape.slots[0], 8)[0].type_, Type::Int { width: 32, signed: false });
}

/// A module of one invocation with two nested branches on two words. Only one number takes each of
/// them. A third branch is never taken. The innermost block stores `SHOWN`.
const NESTED: &str = r#"
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpName %inner "inner"
OpName %lost "lost"
OpDecorate %words ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block BufferBlock
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 0
%void = OpTypeVoid
%function = OpTypeFunction %void
%bool = OpTypeBool
%u = OpTypeInt 32 0
%u0 = OpConstant %u 0
%u1 = OpConstant %u 1
%u2 = OpConstant %u 2
%u3 = OpConstant %u 3
%first = OpConstant %u 305419896
%second = OpConstant %u 70001
%shown = OpConstant %u SHOWN
%words = OpTypeArray %u %u3
%block = OpTypeStruct %words
%p_block = OpTypePointer Uniform %block
%pu = OpTypePointer Uniform %u
%in = OpVariable %p_block Uniform
%main = OpFunction %void None %function
%entry = OpLabel
%p0 = OpAccessChain %pu %in %u0 %u0
%p1 = OpAccessChain %pu %in %u0 %u1
%p2 = OpAccessChain %pu %in %u0 %u2
%a = OpLoad %u %p0
%b = OpLoad %u %p1
%is_first = OpIEqual %bool %a %first
OpSelectionMerge %end None
OpBranchConditional %is_first %outer %end
%outer = OpLabel
%is_second = OpIEqual %bool %b %second
OpSelectionMerge %joined None
OpBranchConditional %is_second %inner %joined
%inner = OpLabel
OpStore %p2 %shown
OpBranch %joined
%joined = OpLabel
%never = OpINotEqual %bool %a %first
OpSelectionMerge %done None
OpBranchConditional %never %lost %done
%lost = OpLabel
OpStore %p2 %u0
OpBranch %done
%done = OpLabel
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
"#;

/// Inputs that reach new blocks are compared too. The coverage names the blocks that never ran.
#[test]
fn inputs_are_guided_by_the_blocks_that_they_cover() {
    let [before, after] = ["7", "8"].map(|shown| side(&NESTED.trim_start().replace("SHOWN", shown)));
    let compared = |after: &Side, seed: u64, guided: u64| {
        let settings = Settings { inputs: 3, guided, seed, ..alone() };
        smallstep::theorem::refine::refines(&before, after, &settings, |_| {}).expect("the interfaces match")
    };
    let found = |guided: u64| (1..=20).filter(|&seed| compared(&after, seed, guided).disagreement.is_some()).count();
    let (without, with) = (found(0), found(400));
    assert!(without < 10 && with > without + 5, "of 20 seeds {without} show the difference by themselves, and {with} guided");
    let coverage = compared(&before, 1, 400).coverage.expect("inputs were guided");
    let module = &before.module.module;
    let never: Vec<String> = coverage.never().filter_map(|label| module.name(label)).collect();
    assert!(never.contains(&"lost".to_string()) && coverage.all.len() == 7, "{never:?} of {}", coverage.all.len());
    assert!(compared(&before, 1, 0).coverage.is_none(), "nobody asked");
}

/// The machine reaches the same blocks as the relation, in generated modules without atomics whose
/// invocations diverge.
#[test]
fn the_machine_comes_to_the_blocks_of_the_relation() {
    let (mut compared, mut partly) = (0, 0);
    for seed in 1..=60 {
        let case = smallstep::generate::spirv::case(seed, &smallstep::generate::spirv::Limits::default());
        let module = Module::load(&case.words).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let side = Side::new("module", ComputeModule::new(module, Some(&case.entry)).unwrap_or_else(|e| panic!("{e}")), None);
        if side.depends_on_schedule() {
            continue;
        }
        let settings = Settings { groups: Some([1; 3]), ..Settings::default() };
        let shape = shape(&side, &settings);
        let input = shape.draw(&settings, seed, DRAFTS - 1);
        let ran = |engine: Engine| {
            let mut blocks = BTreeSet::new();
            let outcome = side.run(&input, &Settings { engine, ..settings.clone() }, 1 << 20, Some(&mut blocks));
            outcome.observed().map(|_| blocks)
        };
        let (Some(machine), Some(relation)) = (ran(Engine::Machine), ran(Engine::Reference)) else { continue };
        assert_eq!(machine, relation, "seed {seed}");
        compared += 1;
        partly += usize::from(machine.len() < side.module.module.blocks().len());
    }
    assert!(compared > 20 && partly > 5, "{compared} modules ended, {partly} of them left a block out");
}

/// The order of some atomics is not visible, and they need no other schedule: relaxed atomics that
/// commute and whose results are unused.
#[test]
fn the_order_of_atomics_that_commute_shows_nowhere() {
    let text = |body: &str| {
        format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
             OpExecutionMode %main LocalSize 8 1 1\nOpDecorate %array ArrayStride 4\nOpDecorate %block Block\n\
             OpMemberDecorate %block 0 Offset 0\nOpDecorate %a DescriptorSet 0\nOpDecorate %a Binding 0\n\
             OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 1\n%void = OpTypeVoid\n%function = OpTypeFunction %void\n\
             %u = OpTypeInt 32 0\n%zero = OpConstant %u 0\n%one = OpConstant %u 1\n%acquire_release = OpConstant %u 72\n\
             %array = OpTypeRuntimeArray %u\n%block = OpTypeStruct %array\n%pointer = OpTypePointer StorageBuffer %block\n\
             %word = OpTypePointer StorageBuffer %u\n%a = OpVariable %pointer StorageBuffer\n%b = OpVariable %pointer StorageBuffer\n\
             %main = OpFunction %void None %function\n%entry = OpLabel\n%x = OpAccessChain %word %a %zero %zero\n\
             %y = OpAccessChain %word %b %zero %zero\n{body}OpReturn\nOpFunctionEnd\n"
        )
    };
    let add = "%old = OpAtomicIAdd %u %x %one %zero %one\n";
    for (more, shows) in [
        (String::new(), false),
        ("%r = OpAtomicISub %u %x %one %zero %one\n".into(), false),
        ("%r = OpAtomicXor %u %y %one %zero %one\n".into(), false),
        ("%r = OpAtomicXor %u %x %one %zero %one\n".into(), true),
        ("%r = OpAtomicIAdd %u %x %one %acquire_release %one\n".into(), true),
        ("%r = OpAtomicExchange %u %y %one %zero %one\n".into(), true),
        ("%r = OpAtomicLoad %u %x %one %zero\n".into(), true),
        ("OpAtomicStore %y %one %zero %old\n".into(), true),
        ("OpStore %y %old\n".into(), true),
        ("OpMemoryBarrier %one %acquire_release\n".into(), true),
    ] {
        let side = side(&text(&format!("{add}{more}")));
        assert_eq!(side.depends_on_schedule(), shows, "{more}");
    }
}
