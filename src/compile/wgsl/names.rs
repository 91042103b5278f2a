//! Names: those of OpName, made legal and unique (WGSL §3.8, §16). Seed 002 keeps them too.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::text::Text;

/// The names that no declaration may have: keywords, reserved words, and words that the text
/// itself uses.
const RESERVED: &str = "alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if \
    let loop override requires return struct switch true var while \
    NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class co_await co_return \
    co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr constinit crate debugger \
    decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter final \
    finally friend from fxgroup get goto groupshared highp impl implements import inline instanceof interface layout lowp macro \
    macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline nointerpolation non_coherent \
    noncoherent noperspective null nullptr of operator package packoffset partition pass patch pixelfragment precise precision premerge \
    priv protected pub public readonly ref regardless register reinterpret_cast require resource restrict self set shared sizeof smooth \
    snorm static static_assert static_cast std subroutine super target template this thread_local throw trait try type typedef typeid \
    typename typeof union unless unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield \
    bool f16 f32 i32 u32 i64 u64 f64 vec2 vec3 vec4 vec2f vec3f vec4f vec2i vec3i vec4i vec2u vec3u vec4u vec2h vec3h vec4h \
    mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 array atomic ptr sampler sampler_comparison \
    bitcast all any select arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh countLeadingZeros countOneBits \
    countTrailingZeros cross degrees determinant distance dot dot4U8Packed dot4I8Packed exp exp2 extractBits faceForward \
    firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length log log2 max min mix modf normalize \
    pow quantizeToF16 radians reflect refract reverseBits round saturate sign sin sinh smoothstep sqrt step tan tanh transpose trunc \
    dpdx dpdxCoarse dpdxFine dpdy dpdyCoarse dpdyFine fwidth fwidthCoarse fwidthFine \
    atomicLoad atomicStore atomicAdd atomicSub atomicMax atomicMin atomicAnd atomicOr atomicXor atomicExchange \
    atomicCompareExchangeWeak workgroupBarrier storageBarrier textureBarrier workgroupUniformLoad \
    pack4x8snorm pack4x8unorm pack2x16snorm pack2x16unorm pack2x16float \
    unpack4x8snorm unpack4x8unorm unpack2x16snorm unpack2x16unorm unpack2x16float \
    function private workgroup uniform storage read write read_write handle \
    textureDimensions textureNumLayers textureNumLevels textureNumSamples textureLoad textureStore textureGather textureGatherCompare \
    textureSample textureSampleBias textureSampleCompare textureSampleCompareLevel textureSampleGrad textureSampleLevel \
    texture_1d texture_2d texture_2d_array texture_3d texture_cube texture_cube_array texture_multisampled_2d \
    texture_depth_2d texture_depth_2d_array texture_depth_cube texture_depth_cube_array \
    texture_storage_1d texture_storage_2d texture_storage_2d_array texture_storage_3d \
    rgba8unorm rgba8snorm rgba8uint rgba8sint rgba16unorm rgba16snorm rgba16uint rgba16sint rgba16float rgba32uint rgba32sint \
    rgba32float rg8unorm rg8snorm rg8uint rg8sint rg16unorm rg16snorm rg16uint rg16sint rg16float rg32uint rg32sint rg32float \
    r8unorm r8snorm r8uint r8sint r16unorm r16snorm r16uint r16sint r16float r32uint r32sint r32float \
    rgb10a2unorm rgb10a2uint rg11b10ufloat \
    high_product inverse_2 inverse_3 inverse_4";

/// [`RESERVED`] as a set of words.
static RESERVED_WORDS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| RESERVED.split_whitespace().collect());

/// The names in use, of a module and of the function that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// By name: the number of the function that uses it, or [`MODULE`].
    owners: FxHashMap<Text, u32>,
    /// By name, first for names of the module, then for names of functions: the function that asked
    /// last for a name like this, and the number that it tries next.
    next: [FxHashMap<Text, (u32, u32)>; 2],
    /// The number of the function that is being written.
    function: u32,
}

/// The number for names at module scope, which every function sees.
const MODULE: u32 = 0;

impl Names {
    /// No names in use, with room for that many.
    pub(super) fn with_capacity(count: usize) -> Names {
        Names { owners: FxHashMap::with_capacity_and_hasher(count, FxBuildHasher), ..Names::default() }
    }

    /// Takes a name for a function or the module. Fails if it is reserved or in use. A function may
    /// take a name that an earlier function used. The module may not, because a later declaration
    /// at module scope must not be hidden.
    fn try_take(&mut self, name: &str, function: u32) -> bool {
        // Most names are those of ids. They begin with `x_`, and no reserved word does.
        if !name.starts_with("x_") && RESERVED_WORDS.contains(name) {
            return false;
        }
        let Some(owner) = self.owners.get_mut(name) else {
            self.owners.insert(name.into(), function);
            return true;
        };
        let can_reuse = function != MODULE && *owner != MODULE && *owner != function;
        if can_reuse {
            *owner = function;
        }
        can_reuse
    }

    /// A legal unused name for the module, as similar to the wanted name as possible.
    pub(super) fn fresh(&mut self, wanted_name: &str) -> Text {
        self.numbered(&legal(wanted_name), MODULE)
    }

    fn numbered(&mut self, base: &str, function: u32) -> Text {
        if self.try_take(base, function) {
            return base.into();
        }
        // `x` with a number would be the name of an id.
        let base = if base == "x" { "x_x" } else { base };
        let kind = usize::from(function != MODULE);
        let mut next = self.next[kind].get(base).filter(|(of, _)| *of == function).map_or(1, |(_, next)| *next);
        loop {
            let name = Text::of(&[base, &Text::numbered("_", next.into(), "")]);
            next += 1;
            if self.try_take(&name, function) {
                match self.next[kind].get_mut(base) {
                    Some(entry) => *entry = (function, next),
                    None => _ = self.next[kind].insert(base.into(), (function, next)),
                }
                return name;
            }
        }
    }

    /// Begins the names of a function, which may reuse the names of earlier functions.
    pub(super) fn enter(&mut self) {
        self.function += 1;
    }

    /// A legal unused name in the current function.
    pub(super) fn local(&mut self, wanted_name: &str) -> Text {
        self.numbered(&legal(wanted_name), self.function)
    }

    /// Takes a name for the module, unchanged. Returns whether it was legal and unused.
    pub(super) fn take(&mut self, name: &str) -> bool {
        is_legal(name) && self.try_take(name, MODULE)
    }
}

/// The most characters of a name.
const MAX_LENGTH: usize = 64;

fn legal(wanted_name: &str) -> Cow<'_, str> {
    // glslang appends the types of parameters to the name of a function.
    let wanted_name = wanted_name.split('(').next().unwrap_or(wanted_name);
    if wanted_name.len() <= MAX_LENGTH && is_plain(wanted_name) {
        return Cow::Borrowed(wanted_name);
    }
    let mut name = String::new();
    for c in wanted_name.chars().take(MAX_LENGTH) {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c != '_' || !name.ends_with('_') {
            name.push(c);
        }
    }
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        None => "x".into(),
        Some(first) if first.is_ascii_digit() => format!("x{name}").into(),
        Some('_') => format!("x{name}").into(),
        _ => name.to_string().into(),
    }
}

/// Whether a name is a letter followed by letters, digits and single underscores between these.
fn is_plain(name: &str) -> bool {
    let mut underscore = true;
    for c in name.bytes() {
        if !c.is_ascii_alphanumeric() && (c != b'_' || underscore) {
            return false;
        }
        underscore = c == b'_';
    }
    !underscore && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The name of an OpName, made legal. Only ids have names of the form `x_` and a number.
pub(super) fn of_module(name: &str) -> Text {
    let name = legal(name);
    let is_id = name.strip_prefix("x_").is_some_and(|number| number.bytes().all(|c| c.is_ascii_digit()));
    Text::of(&[if is_id { "x" } else { "" }, &name])
}

/// Whether a text is a WGSL identifier of ASCII characters.
pub(super) fn is_legal(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name != "_"
        && !name.starts_with("__")
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_unique() {
        let mut names = Names::default();
        for (wanted_name, expected) in [
            ("color", "color"),
            ("color", "color_1"),
            ("color_1", "color_1_1"),
            ("fn", "fn_1"),
            ("array", "array_1"),
            ("helper(t21;p1;", "helper"),
            ("__x", "x_x"),
            ("_", "x"),
            ("9lives", "x9lives"),
            ("größe", "gr_e"),
            ("", "x_x_1"),
        ] {
            assert_eq!(&*names.fresh(wanted_name), expected, "{wanted_name}");
        }
        assert_eq!(["x_12", "x__12", "x12", "x_a"].map(|name| of_module(name).to_string()), ["xx_12", "xx_12", "x12", "x_a"]);
        // Functions may share a name. A later declaration at module scope may not have it.
        names.enter();
        let strings = |texts: &[Text]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(strings(&[names.local("t"), names.local("t"), names.local("color")]), ["t", "t_1", "color_2"]);
        names.enter();
        assert_eq!(strings(&[names.local("t"), names.local("t")]), ["t", "t_1"]);
        assert_eq!(strings(&[names.fresh("t"), names.fresh("x")]), ["t_2", "x_x_2"]);
    }
}
