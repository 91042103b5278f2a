//! Formats of texels: Vulkan, Format Definition; Compatibility Between SPIR-V Image Formats and
//! Vulkan Formats.

use rspirv::spirv::ImageFormat;

/// How the bits of a component encode a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numeric {
    /// An unsigned integer divided by the greatest one: 0 to 1.
    Unorm,
    /// A signed integer divided by the greatest one, but not below -1.
    Snorm,
    /// An unsigned integer.
    Uint,
    /// A signed integer, in two's complement.
    Sint,
    /// A float of 16 or 32 bits.
    Float,
}

impl Numeric {
    /// Whether a shader sees integers.
    pub fn is_integer(self) -> bool {
        matches!(self, Numeric::Uint | Numeric::Sint)
    }

    /// Whether integers encode the numbers from 0 or -1 to 1.
    pub fn is_normalized(self) -> bool {
        matches!(self, Numeric::Unorm | Numeric::Snorm)
    }
}

/// The place of a component in a texel, which is read as one little-endian number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The lowest bit.
    pub offset: u8,
    /// The number of bits.
    pub width: u8,
}

impl Channel {
    /// Clears the bits of the component in the bytes of a texel.
    pub fn clear(self, texel: &mut [u8]) {
        for bit in usize::from(self.offset)..usize::from(self.offset) + usize::from(self.width) {
            if let Some(byte) = texel.get_mut(bit / 8) {
                *byte &= !(1 << (bit % 8));
            }
        }
    }
}

macro_rules! formats {
    ($($name:ident $text:literal $numeric:ident [$($offset:literal $width:literal),*];)*) => {
        /// A format, by Vulkan's name without `VK_FORMAT_`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Format {
            $(#[doc = $text] $name,)*
        }

        impl Format {
            /// Every format.
            pub const ALL: &'static [Format] = &[$(Format::$name,)*];

            /// Vulkan's name without `VK_FORMAT_`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Format::$name => $text,)*
                }
            }

            /// How the components encode numbers.
            pub fn numeric(self) -> Numeric {
                match self {
                    $(Format::$name => Numeric::$numeric,)*
                }
            }

            /// The components that the format has, red (or depth) first.
            pub fn channels(self) -> &'static [Channel] {
                match self {
                    $(Format::$name => &[$(Channel { offset: $offset, width: $width }),*],)*
                }
            }
        }
    };
}

formats! {
    R8Unorm "R8_UNORM" Unorm [0 8];
    R8Snorm "R8_SNORM" Snorm [0 8];
    R8Uint "R8_UINT" Uint [0 8];
    R8Sint "R8_SINT" Sint [0 8];
    Rg8Unorm "R8G8_UNORM" Unorm [0 8, 8 8];
    Rg8Snorm "R8G8_SNORM" Snorm [0 8, 8 8];
    Rg8Uint "R8G8_UINT" Uint [0 8, 8 8];
    Rg8Sint "R8G8_SINT" Sint [0 8, 8 8];
    Rgba8Unorm "R8G8B8A8_UNORM" Unorm [0 8, 8 8, 16 8, 24 8];
    Rgba8Snorm "R8G8B8A8_SNORM" Snorm [0 8, 8 8, 16 8, 24 8];
    Rgba8Uint "R8G8B8A8_UINT" Uint [0 8, 8 8, 16 8, 24 8];
    Rgba8Sint "R8G8B8A8_SINT" Sint [0 8, 8 8, 16 8, 24 8];
    Bgra8Unorm "B8G8R8A8_UNORM" Unorm [16 8, 8 8, 0 8, 24 8];
    Rgb10A2Unorm "A2B10G10R10_UNORM_PACK32" Unorm [0 10, 10 10, 20 10, 30 2];
    Rgb10A2Snorm "A2B10G10R10_SNORM_PACK32" Snorm [0 10, 10 10, 20 10, 30 2];
    Rgb10A2Uint "A2B10G10R10_UINT_PACK32" Uint [0 10, 10 10, 20 10, 30 2];
    Rgb10A2Sint "A2B10G10R10_SINT_PACK32" Sint [0 10, 10 10, 20 10, 30 2];
    Bgr10A2Unorm "A2R10G10B10_UNORM_PACK32" Unorm [20 10, 10 10, 0 10, 30 2];
    Bgr10A2Snorm "A2R10G10B10_SNORM_PACK32" Snorm [20 10, 10 10, 0 10, 30 2];
    Bgr10A2Uint "A2R10G10B10_UINT_PACK32" Uint [20 10, 10 10, 0 10, 30 2];
    Rg4Unorm "R4G4_UNORM_PACK8" Unorm [4 4, 0 4];
    Rgba4Unorm "R4G4B4A4_UNORM_PACK16" Unorm [12 4, 8 4, 4 4, 0 4];
    Bgra4Unorm "B4G4R4A4_UNORM_PACK16" Unorm [4 4, 8 4, 12 4, 0 4];
    R5G6B5Unorm "R5G6B5_UNORM_PACK16" Unorm [11 5, 5 6, 0 5];
    B5G6R5Unorm "B5G6R5_UNORM_PACK16" Unorm [0 5, 5 6, 11 5];
    Rgb5A1Unorm "R5G5B5A1_UNORM_PACK16" Unorm [11 5, 6 5, 1 5, 0 1];
    Bgr5A1Unorm "B5G5R5A1_UNORM_PACK16" Unorm [1 5, 6 5, 11 5, 0 1];
    A1Rgb5Unorm "A1R5G5B5_UNORM_PACK16" Unorm [10 5, 5 5, 0 5, 15 1];
    R16Unorm "R16_UNORM" Unorm [0 16];
    R16Snorm "R16_SNORM" Snorm [0 16];
    R16Uint "R16_UINT" Uint [0 16];
    R16Sint "R16_SINT" Sint [0 16];
    R16Sfloat "R16_SFLOAT" Float [0 16];
    Rg16Unorm "R16G16_UNORM" Unorm [0 16, 16 16];
    Rg16Snorm "R16G16_SNORM" Snorm [0 16, 16 16];
    Rg16Uint "R16G16_UINT" Uint [0 16, 16 16];
    Rg16Sint "R16G16_SINT" Sint [0 16, 16 16];
    Rg16Sfloat "R16G16_SFLOAT" Float [0 16, 16 16];
    Rgba16Unorm "R16G16B16A16_UNORM" Unorm [0 16, 16 16, 32 16, 48 16];
    Rgba16Snorm "R16G16B16A16_SNORM" Snorm [0 16, 16 16, 32 16, 48 16];
    Rgba16Uint "R16G16B16A16_UINT" Uint [0 16, 16 16, 32 16, 48 16];
    Rgba16Sint "R16G16B16A16_SINT" Sint [0 16, 16 16, 32 16, 48 16];
    Rgba16Sfloat "R16G16B16A16_SFLOAT" Float [0 16, 16 16, 32 16, 48 16];
    R32Uint "R32_UINT" Uint [0 32];
    R32Sint "R32_SINT" Sint [0 32];
    R32Sfloat "R32_SFLOAT" Float [0 32];
    Rg32Uint "R32G32_UINT" Uint [0 32, 32 32];
    Rg32Sint "R32G32_SINT" Sint [0 32, 32 32];
    Rg32Sfloat "R32G32_SFLOAT" Float [0 32, 32 32];
    Rgb32Uint "R32G32B32_UINT" Uint [0 32, 32 32, 64 32];
    Rgb32Sint "R32G32B32_SINT" Sint [0 32, 32 32, 64 32];
    Rgb32Sfloat "R32G32B32_SFLOAT" Float [0 32, 32 32, 64 32];
    Rgba32Uint "R32G32B32A32_UINT" Uint [0 32, 32 32, 64 32, 96 32];
    Rgba32Sint "R32G32B32A32_SINT" Sint [0 32, 32 32, 64 32, 96 32];
    Rgba32Sfloat "R32G32B32A32_SFLOAT" Float [0 32, 32 32, 64 32, 96 32];
    D16Unorm "D16_UNORM" Unorm [0 16];
    X8D24Unorm "X8_D24_UNORM_PACK32" Unorm [0 24];
    D32Sfloat "D32_SFLOAT" Float [0 32];
}

impl Format {
    /// The format of that name, with or without `VK_FORMAT_`.
    pub fn of_name(name: &str) -> Option<Format> {
        let name = name.strip_prefix("VK_FORMAT_").unwrap_or(name);
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format of a SPIR-V image format. `None` for Unknown and for formats that are
    /// not modeled.
    pub fn of_spirv(format: ImageFormat) -> Option<Format> {
        Some(match format {
            ImageFormat::Rgba32f => Format::Rgba32Sfloat,
            ImageFormat::Rgba16f => Format::Rgba16Sfloat,
            ImageFormat::R32f => Format::R32Sfloat,
            ImageFormat::Rgba8 => Format::Rgba8Unorm,
            ImageFormat::Rgba8Snorm => Format::Rgba8Snorm,
            ImageFormat::Rg32f => Format::Rg32Sfloat,
            ImageFormat::Rg16f => Format::Rg16Sfloat,
            ImageFormat::R16f => Format::R16Sfloat,
            ImageFormat::Rgba16 => Format::Rgba16Unorm,
            ImageFormat::Rgb10A2 => Format::Rgb10A2Unorm,
            ImageFormat::Rgb10a2ui => Format::Rgb10A2Uint,
            ImageFormat::Rg16 => Format::Rg16Unorm,
            ImageFormat::Rg8 => Format::Rg8Unorm,
            ImageFormat::R16 => Format::R16Unorm,
            ImageFormat::R8 => Format::R8Unorm,
            ImageFormat::Rgba16Snorm => Format::Rgba16Snorm,
            ImageFormat::Rg16Snorm => Format::Rg16Snorm,
            ImageFormat::Rg8Snorm => Format::Rg8Snorm,
            ImageFormat::R16Snorm => Format::R16Snorm,
            ImageFormat::R8Snorm => Format::R8Snorm,
            ImageFormat::R32i => Format::R32Sint,
            ImageFormat::R32ui => Format::R32Uint,
            ImageFormat::Rg32i => Format::Rg32Sint,
            ImageFormat::Rg32ui => Format::Rg32Uint,
            ImageFormat::Rgba32i => Format::Rgba32Sint,
            ImageFormat::Rgba32ui => Format::Rgba32Uint,
            ImageFormat::R16i => Format::R16Sint,
            ImageFormat::R16ui => Format::R16Uint,
            ImageFormat::Rg16i => Format::Rg16Sint,
            ImageFormat::Rg16ui => Format::Rg16Uint,
            ImageFormat::Rgba16i => Format::Rgba16Sint,
            ImageFormat::Rgba16ui => Format::Rgba16Uint,
            ImageFormat::R8i => Format::R8Sint,
            ImageFormat::R8ui => Format::R8Uint,
            ImageFormat::Rg8i => Format::Rg8Sint,
            ImageFormat::Rg8ui => Format::Rg8Uint,
            ImageFormat::Rgba8i => Format::Rgba8Sint,
            ImageFormat::Rgba8ui => Format::Rgba8Uint,
            _ => return None,
        })
    }

    /// Whether a component does not consist of whole bytes.
    pub fn is_packed(self) -> bool {
        self.channels().iter().any(|channel| !channel.width.is_multiple_of(8))
    }

    /// The number of bytes of a texel.
    pub fn bytes(self) -> usize {
        if self == Format::X8D24Unorm {
            return 4;
        }
        self.channels().iter().map(|c| usize::from(c.offset + c.width)).max().unwrap_or(0) / 8
    }

    /// Whether the one component is a depth.
    pub fn is_depth(self) -> bool {
        matches!(self, Format::D16Unorm | Format::X8D24Unorm | Format::D32Sfloat)
    }
}
