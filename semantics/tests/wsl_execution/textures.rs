//! Textures and samplers: every kind and every function, sets under a profile of precision, strange
//! operands, and well-typed terms.

use crate::random::Random;
use smallstep_generate::wsl::beside::{self, Compared, Fuel};
use smallstep_semantics::image::{Compare, Filter, Format, Image, Sampler};
use smallstep_semantics::number::Profile;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::execution::term::Value;
use smallstep_semantics::wsl::execution::{Planted, call_of};
use smallstep_semantics::wsl::group::{Dispatch, Ending, Resource, ResourceContents, Shown};
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::memory::{Address, Memory, Object, Words};
use smallstep_semantics::wsl::open::{Possible, Word};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::texture::{Opaque, Texture, is_depth, is_writable, shape};
use smallstep_semantics::wsl::types::{Scalar, TextureKind, Type};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;
use std::collections::BTreeSet;

fn program(text: &str) -> Program {
    let found = validate(text);
    found.program.unwrap_or_else(|| panic!("{:?}\n{text}", found.errors))
}

/// An image for a texture of the kind. Its texels count up from `first`.
fn image(kind: TextureKind, format: Format, sides: [u32; 3], levels: u32, first: u32) -> Image {
    let mut image = Image::of_shape(format, shape(kind), sides, levels).expect("an image");
    let mut next = first;
    for level in 0..levels {
        let mut bytes = vec![0; image.bytes(level).map_or(0, <[u8]>::len)];
        for texel in bytes.chunks_mut(format.bytes()) {
            let channels = format.channels().len();
            for component in texel.chunks_mut(format.bytes() / channels) {
                let bits = if format.bytes() == 1 { 16 * next } else { (next as f32 / 8.0).to_bits() };
                component.copy_from_slice(&bits.to_le_bytes()[..component.len()]);
            }
            next += 1;
        }
        image.fill(level, &bytes).expect("its bytes");
    }
    image
}

/// The sides of a small image for the kind.
fn small(kind: TextureKind) -> [u32; 3] {
    use smallstep_semantics::image::Shape;
    match shape(kind) {
        Shape::D1 => [4, 1, 1],
        Shape::D1Array => [4, 1, 3],
        Shape::D2 => [4, 2, 1],
        Shape::D2Array => [4, 2, 3],
        Shape::D3 => [4, 2, 2],
        Shape::Cube | Shape::CubeArray => [2, 2, 6],
    }
}

/// Binds images, samplers and words in the order of the resources.
fn run(text: &str, bound: &[Bound], settings: &Settings) -> Ending {
    let program = program(text);
    dispatch(&program, text, bound).run(settings)
}

fn dispatch<'p>(program: &'p Program, text: &'p str, bound: &[Bound]) -> Dispatch<'p> {
    let entry = &program.entry_points[0];
    let mut resources = Resource::of(program, entry).expect("resources");
    assert_eq!(resources.len(), bound.len());
    for (resource, bound) in resources.iter_mut().zip(bound) {
        match (&mut resource.contents, bound) {
            (ResourceContents::Buffer(buffer), Bound::Words(words)) => buffer.words = words.clone(),
            (ResourceContents::Sampler(sampler), Bound::Sampler(given)) => *sampler = Some(*given),
            (ResourceContents::Texture(textured), Bound::Image(image)) => {
                let (Type::Scalar(scalar) | Type::Vector(scalar, _)) = program.env.types.get(textured.texel) else { panic!("texels") };
                textured.texture = Some(Texture::new(textured.kind, scalar, image.clone()).expect("it fits"));
            }
            (held, bound) => panic!("{held:?} and {bound:?}"),
        }
    }
    Dispatch { program, text, entry, groups: [1, 1, 1], resources }
}

#[derive(Clone, Debug)]
enum Bound {
    Image(Image),
    Sampler(Sampler),
    Words(Vec<u32>),
}

fn shown(text: &str, bound: &[Bound], settings: &Settings) -> Shown {
    match run(text, bound, settings) {
        Ending::Shown(shown) => *shown,
        other => panic!("{other:?}\n{text}"),
    }
}

/// The texture's type in a program, and a format of one component for it.
fn of_floats(kind: TextureKind) -> (String, Format) {
    (format!("{}<float>", kind.name()), if is_depth(kind) { Format::D32Sfloat } else { Format::R32Sfloat })
}

/// `T`, `T2` and so on.
fn vector(of: &str, count: usize) -> String {
    if count == 1 { of.to_string() } else { format!("{of}{count}") }
}

/// The coordinates as a scalar or vector argument.
fn place(of: &str, at: &[String]) -> String {
    if at.len() == 1 { at[0].clone() } else { format!("{}({})", vector(of, at.len()), at.join(", ")) }
}

#[test]
fn every_texel_of_every_kind_is_loaded_from_its_place() {
    for kind in TextureKind::ALL.into_iter().filter(|kind| !kind.name().contains("Cube")) {
        let (ty, format) = of_floats(kind);
        let [width, height, slices] = small(kind);
        let (mut text, mut expected) = (String::new(), Vec::new());
        for z in 0..slices {
            for y in 0..height {
                for x in 0..width {
                    let mut at = [x, y, z].map(|x| x.to_string()).to_vec();
                    match shape(kind).axes() {
                        1 if shape(kind).is_layered() => _ = at.remove(1),
                        1 => at.truncate(1),
                        2 if !shape(kind).is_layered() => at.truncate(2),
                        _ => {}
                    }
                    if !is_writable(kind) {
                        at.push("0".into());
                    }
                    text += &format!("out[{}] = Load(t, {});\n", expected.len(), place("int", &at));
                    expected.push((7.0 + expected.len() as f32) / 8.0);
                }
            }
        }
        let register = if is_writable(kind) { "u0" } else { "t0" };
        let text =
            format!("[numthreads(1, 1, 1)] compute void f({ty} t : register({register}), device float[] out : register(u1)) {{\n{text}}}");
        let bound = [Bound::Image(image(kind, format, small(kind), 1, 7)), Bound::Words(vec![0; expected.len()])];
        let shown = shown(&text, &bound, &Settings::default());
        let found: Vec<Option<f32>> = shown.buffers[1].iter().map(|w| w.only().map(f32::from_bits)).collect();
        assert_eq!(found, expected.into_iter().map(Some).collect::<Vec<_>>(), "{ty}");
    }
}

/// All functions that take a texture of the kind. Their coordinates come from two buffers.
fn all_functions(kind: TextureKind) -> String {
    let (axes, layered, depth) = (shape(kind).axes(), shape(kind).is_layered(), is_depth(kind));
    let cube = kind.name().contains("Cube");
    let (dimensions, layer) = (if cube { 3 } else { axes }, usize::from(layered));
    let ints = |from: usize, n: usize| place("int", &(from..from + n).map(|i| format!("ints[{i}]")).collect::<Vec<_>>());
    let floats = |from: usize, n: usize| place("float", &(from..from + n).map(|i| format!("floats[{i}]")).collect::<Vec<_>>());
    let mut calls = Vec::new();
    let sides = vec!["&n"; 1 + usize::from(axes > 1) + usize::from(axes > 2 || layered)].join(", ");
    calls.push(format!("uint n; GetDimensions(t, {sides});"));
    if is_writable(kind) {
        calls.push(format!("Store(t, floats[0], {});", ints(0, dimensions + layer)));
        calls.push(format!("out[0] = Load(t, {});", ints(1, dimensions + layer)));
    } else {
        let location = floats(0, dimensions + layer);
        calls.push(format!("GetDimensions(t, uint(ints[0]), {sides}, &n);"));
        if !cube {
            calls.push(format!("out[0] = Load(t, {});", ints(0, dimensions + layer + 1)));
            calls.push(format!("out[0] += Load(t, {}, {});", ints(0, dimensions + layer + 1), ints(2, dimensions)));
            calls.push(format!("out[1] = SampleLevel(t, s, {location}, floats[1], {});", ints(0, dimensions)));
        }
        calls.push(format!("out[1] = SampleLevel(t, s, {location}, floats[5]);"));
        calls.push(format!("out[2] = SampleGrad(t, s, {location}, {}, {});", floats(2, dimensions), floats(4, dimensions)));
        if axes == 2 {
            calls.push(format!("out[3] = Gather(t, s, {location}).z;"));
        }
        if depth {
            calls.push(format!("out[4] = SampleCmpLevelZero(t, c, {location}, floats[4]) + GatherCmp(t, c, {location}, floats[5]).x;"));
        }
    }
    let register = if is_writable(kind) { "u0" } else { "t0" };
    let sampler = if is_writable(kind) { "" } else { "sampler s : register(s0), sampler c : register(s1), " };
    format!(
        "[numthreads(1, 1, 1)] compute void f({} t : register({register}), {sampler}constant int[] ints : register(t1), constant float[] floats : register(t2), \
         device float[] out : register(u1)) {{ {} out[5] = float(n); }}",
        of_floats(kind).0,
        calls.join("\n")
    )
}

#[test]
fn no_operand_is_too_strange() {
    let strange = [0u32, 1, 2, 3, 5, u32::MAX, 1 << 31, i32::MAX as u32, 1 << 16];
    let numbers =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, -1e-45, 1e9, -1e9, 0.0, -0.0, 0.25, 0.5, 1.0, 1.5];
    let mut random = Random(9);
    for round in 0..30 {
        for kind in TextureKind::ALL {
            let (_, format) = of_floats(kind);
            let levels = if is_writable(kind) || round % 2 == 0 { 1 } else { 2 };
            let image = match round % 5 {
                0 => Image::of_shape(format, shape(kind), small(kind), levels).expect("an undefined image"),
                _ => image(kind, format, small(kind), levels, round),
            };
            let filter = [Filter::Nearest, Filter::Linear][random.below(2)];
            let sampler = Sampler { mag: filter, min: filter, mip: filter, unnormalized: random.below(8) == 0, ..Sampler::default() };
            let compares = Sampler { compare: Some(Compare::LessOrEqual), ..sampler };
            let mut bound = vec![Bound::Image(image)];
            if !is_writable(kind) {
                bound.extend([Bound::Sampler(sampler), Bound::Sampler(compares)]);
            }
            bound.push(Bound::Words((0..8).map(|_| strange[random.below(strange.len())]).collect()));
            bound.push(Bound::Words((0..8).map(|_| numbers[random.below(numbers.len())].to_bits()).collect()));
            bound.push(Bound::Words(vec![0; 6]));
            let strategy = [Strategy::Carry, Strategy::First, Strategy::Random(round.into())][random.below(3)];
            let precision =
                if strategy == Strategy::Carry { [None, Some(Profile::Strict), Some(Profile::Wgsl)][random.below(3)] } else { None };
            let settings = Settings { strategy, precision, ..Settings::default() };
            let text = all_functions(kind);
            match run(&text, &bound, &settings) {
                Ending::Shown(shown) => assert!(shown.races.is_empty()),
                Ending::Other(Outcome::Limit(limit)) => panic!("{kind:?}: {limit}"),
                other => panic!("{kind:?}: {other:?}\n{text}"),
            }
            both(&text, &bound, round.into());
        }
    }
}

/// The fast engine and the relation have the same result by definite strategies.
fn both(text: &str, bound: &[Bound], seed: u64) {
    let program = program(text);
    let dispatch = dispatch(&program, text, bound);
    let compiled = Compiled::new(&program, dispatch.entry.function).expect("it compiles");
    for strategy in [Strategy::First, Strategy::Random(seed)] {
        let fuel = Fuel { machine: 1000, relation: 100_000, time: None };
        let compared = beside::dispatch(&dispatch, &compiled, strategy, fuel).expect("what is bound fits");
        assert!(matches!(compared, Compared::Same(_)), "{compared:?} by {strategy:?} with {bound:?}\n{text}");
    }
}

#[test]
fn what_is_definite_is_in_the_set_of_what_a_device_may_have() {
    let kind = TextureKind::Texture2D;
    let text = "[numthreads(1, 1, 1)] compute void f(Texture2D<float> t : register(t0), sampler s : register(s0), constant float[] at : register(t1),
        device float[] out : register(u0)) {
        out[0] = SampleLevel(t, s, float2(at[0], at[1]), at[2]);
        out[1] = SampleGrad(t, s, float2(at[0], at[1]), float2(at[3], at[4]), float2(at[4], at[3]));
        out[2] = Gather(t, s, float2(at[0], at[1])).y;
        out[3] = Load(t, int3(1, 1, 0));
        // The location is a set itself.
        out[4] = SampleLevel(t, s, float2(at[0] * at[1], sqrt(at[3])), 0.0);
    }";
    let mut random = Random(10);
    let mut narrow = 0;
    for _ in 0..60 {
        let filter = [Filter::Nearest, Filter::Linear][random.below(2)];
        let sampler = Sampler { mag: filter, min: filter, mip: filter, ..Sampler::default() };
        let format = [Format::R32Sfloat, Format::R8Unorm][random.below(2)];
        let image = image(kind, format, [4, 2, 1], 2, 3);
        let at: Vec<u32> = (0..5).map(|_| (random.below(64) as f32 / 32.0 + 0.01).to_bits()).collect();
        let bound = [Bound::Image(image), Bound::Sampler(sampler), Bound::Words(at), Bound::Words(vec![0; 5])];
        let definite = shown(text, &bound, &Settings::default());
        let sets = shown(text, &bound, &Settings { precision: Some(Profile::Strict), ..Settings::default() });
        for (definite, set) in definite.buffers[3].iter().zip(&sets.buffers[3]) {
            let bits = definite.only().expect("a definite value");
            let held = set.floats().contains(f32::from_bits(bits).into());
            assert!(held, "{definite:?} is not in {set:?}");
            narrow += u32::from(set.floats().hull().is_some_and(|hull| hull.high - hull.low < 0.1));
        }
    }
    assert!(narrow > 60, "{narrow} are narrow");
}

/// Runs each function once and checks each step. The resources that it takes are in memory beside
/// the thread.
pub fn preserved(rules: &mut BTreeSet<Rule>) -> usize {
    let mut steps = 0;
    for kind in TextureKind::ALL {
        let program = program(&all_functions(kind));
        let entry = &program.entry_points[0];
        let (_, format) = of_floats(kind);
        let mut memory = Memory::default();
        let (mut opaques, mut arguments) = (Vec::new(), Vec::new());
        for parameter in &program.env.function(entry.function).parameters {
            let ty = program.env.types.get(parameter.ty);
            let opaque = match ty {
                Type::Texture(kind, _) => {
                    let image = image(kind, format, small(kind), 1, 1);
                    Some(Opaque::Texture(Texture::new(kind, Scalar::Float, image).expect("it fits")))
                }
                Type::Sampler if opaques.len() == 1 => Some(Opaque::Sampler(Sampler::default())),
                Type::Sampler => Some(Opaque::Sampler(Sampler { compare: Some(Compare::Less), ..Sampler::default() })),
                _ => None,
            };
            let space = match ty {
                Type::ArrayReference(space, _) => space,
                _ if is_writable(kind) => AddressSpace::Device,
                _ => AddressSpace::Constant,
            };
            let words = if opaque.is_none() || space == AddressSpace::Device { vec![Word::Bits(0); 64] } else { Vec::new() };
            let object = memory.push(Object { space, name: "a resource".into(), words });
            opaques.extend(opaque.map(|opaque| (object, opaque)));
            let address = Word::Address(Address::of(object, 0));
            let words = match ty {
                Type::ArrayReference(..) => Words::from_slice(&[address, Word::Bits(64), Word::Bits(0), Word::Bits(0)]),
                _ => Words::from_slice(&[address, Word::Bits(0)]),
            };
            arguments.push(Value { ty: parameter.ty, words });
        }
        memory.opaques.by_object = std::rc::Rc::new(opaques.into_iter().collect());
        let start = call_of(&program, entry.function, arguments);
        let found = crate::preservation::checked_beside(&memory, &program, entry.function, &start, Planted::default(), rules);
        steps += found.unwrap_or_else(|broken| panic!("{kind:?}: {broken:?}"));
    }
    steps
}

#[test]
fn textures_that_are_none_are_refused() {
    use smallstep_semantics::wsl::execution::check::well_typed;
    use smallstep_semantics::wsl::execution::{Shared, Thread};
    let program = program(&all_functions(TextureKind::Texture2D));
    let entry = &program.entry_points[0];
    let shared = Shared::new(&program, entry.function, Planted::default()).expect("few variables");
    let mut memory = Memory::default();
    let object = memory.push(Object { space: AddressSpace::Constant, name: "nothing".into(), words: Vec::new() });
    for first in [Word::Address(Address::of(object, 0)), Word::Bits(0)] {
        let value = |ty| Value { ty, words: Words::from_elem(Word::Bits(0), shared.words(ty).expect("a size") as usize) };
        let mut values: Vec<Value> = program.env.function(entry.function).parameters.iter().map(|p| value(p.ty)).collect();
        values[0].words[0] = first;
        let mut inner = memory.clone();
        let thread = Thread::new(&shared, &mut inner, 0, object, call_of(&program, entry.function, values));
        let wrong = well_typed(&shared, &inner, &thread).expect_err("it is no texture");
        assert!(wrong.why.contains("Texture2D"), "{wrong}");
    }
    for (kind, scalar, format, sides, says) in [
        (TextureKind::Texture2D, Scalar::Int, Format::R32Sfloat, [1, 1, 1], "other numbers"),
        (TextureKind::Texture2D, Scalar::Float, Format::R8Uint, [1, 1, 1], "other numbers"),
        (TextureKind::TextureDepth2D, Scalar::Float, Format::R32Sfloat, [1, 1, 1], "D16_UNORM or D32_SFLOAT"),
    ] {
        let image = Image::of_shape(format, shape(kind), sides, 1).expect("an image");
        assert!(Texture::new(kind, scalar, image).expect_err("it does not fit").what.contains(says));
    }
    let cube = Image::of_shape(Format::R8Uint, shape(TextureKind::TextureCube), [1, 1, 6], 1).expect("a cube");
    assert!(
        Texture::new(TextureKind::Texture2D, Scalar::Uint, cube).expect_err("a cube").what.contains("a cube (`cube NxN`); a Texture2D is")
    );
    let levels = Image::new(Format::R8Uint, 2, 2, 2).expect("levels");
    assert!(Texture::new(TextureKind::RWTexture2D, Scalar::Uint, levels).expect_err("levels").what.contains("of 2 levels"));
}

#[test]
fn undefined_texels_are_one_value_each() {
    let text = "[numthreads(1, 1, 1)] compute void f(RWTexture1D<uint> t : register(u0), Texture1D<uint> c : register(t0), device uint[] out : register(u1)) {
        out[0] = Load(t, 0) - Load(t, 0);
        out[1] = Load(t, 0) - Load(t, 1);
        out[2] = Load(c, int2(0, 0)) ^ Load(c, int2(0, 0));
        out[3] = Load(c, int2(1, 0));
        Store(t, out[0] * 0 + 4, 1);
    }";
    let image = || Bound::Image(Image::of_shape(Format::R8Uint, shape(TextureKind::Texture1D), [2, 1, 1], 1).expect("an image"));
    let shown = shown(text, &[image(), image(), Bound::Words(vec![0; 4])], &Settings::default());
    let eight: Vec<u32> = (0..256).collect();
    assert_eq!(shown.buffers[2][..3], [Possible::Values(vec![0]), Possible::Any, Possible::Values(vec![0])]);
    assert_eq!(shown.buffers[2][3], Possible::Values(eight));
    assert_eq!(shown.buffers[0], [Possible::Any, Possible::Values(vec![4])]);
}
