//! Levels, undefined texels, and accesses out of bounds.

use smallstep_semantics::image::{Format, Image, ImageError, Robustness};
use smallstep_semantics::undefined::Unspecified;

fn floats(x: [f32; 4]) -> [u32; 4] {
    x.map(f32::to_bits)
}

#[test]
fn levels_have_half_the_sides_rounded_down() {
    let image = Image::new(Format::R8Unorm, 13, 5, 4).expect("an image");
    let sizes: Vec<_> = (0..5).map(|level| image.size(level)).collect();
    assert_eq!(sizes, [Some([13, 5]), Some([6, 2]), Some([3, 1]), Some([1, 1]), None]);
    assert_eq!(image.query_size(1).as_deref(), Ok(&[6, 2][..]));
    assert_eq!(image.query_size(-1), Err(Unspecified::ImageLevel));
    assert_eq!(image.query_size(i64::MAX), Err(Unspecified::ImageLevel));
}

#[test]
fn impossible_images_are_refused() {
    assert_eq!(Image::new(Format::R8Unorm, 0, 5, 1).err(), Some(ImageError::Empty));
    assert_eq!(Image::new(Format::R8Unorm, 13, 5, 5).err(), Some(ImageError::Levels(5, 4)));
    assert_eq!(Image::new(Format::R8Unorm, 13, 5, 0).err(), Some(ImageError::Levels(0, 4)));
    assert_eq!(Image::new(Format::Rgba32Sfloat, u32::MAX, u32::MAX, 1).err(), Some(ImageError::TooLarge));
    let mut image = Image::new(Format::Rg8Unorm, 2, 2, 1).expect("an image");
    assert_eq!(image.fill(0, &[0; 7]).err(), Some(ImageError::Length(7, 8)));
    assert_eq!(image.fill(1, &[0; 8]).err(), Some(ImageError::NoLevel(1)));
}

#[test]
fn bytes_are_components_in_memory_order() {
    let mut image = Image::new(Format::Bgra8Unorm, 2, 1, 1).expect("an image");
    image.fill(0, &[0, 0, 255, 255, 51, 102, 153, 204]).expect("8 bytes");
    let texel = |x| image.fetch(x, 0, 0, Robustness::None).bits;
    assert_eq!(texel(0), floats([1.0, 0.0, 0.0, 1.0]));
    assert_eq!(texel(1), floats([0.6, 0.4, 0.2, 0.8]));
    let mut image = Image::new(Format::Rgb10A2Unorm, 1, 1, 1).expect("an image");
    image.fill(0, &(1023u32 | 1 << 10 | 341 << 20 | 2 << 30).to_le_bytes()).expect("4 bytes");
    assert_eq!(image.fetch(0, 0, 0, Robustness::None).bits, floats([1.0, 1.0 / 1023.0, 1.0 / 3.0, 2.0 / 3.0]));
    let mut image = Image::new(Format::Rg16Sint, 1, 1, 1).expect("an image");
    image.fill(0, &[0xfe, 0xff, 7, 0]).expect("4 bytes");
    assert_eq!(image.fetch(0, 0, 0, Robustness::None).bits, [-2i32 as u32, 7, 0, 1]);
}

#[test]
fn texels_are_undefined_until_written_component_by_component() {
    let mut image = Image::new(Format::Rg8Unorm, 3, 2, 1).expect("an image");
    let undefined = Some(Unspecified::Uninitialised);
    assert_eq!(image.fetch(1, 1, 0, Robustness::Access2).undefined, [undefined, undefined, None, None]);
    let codes = image.write(1, 1, floats([0.5, 1.0, 9.0, 9.0]), 0b1110).expect("a texel");
    assert!(codes.len() == 2 && codes[0].admits(127) && codes[0].admits(128) && codes[1].is_exact());
    let texel = image.fetch(1, 1, 0, Robustness::None);
    assert_eq!(texel.undefined, [None, undefined, None, None]);
    // 0.5·255 = 127.5 is stored as 127 or 128.
    assert_eq!(texel.bits[0], (128.0f32 / 255.0).to_bits());
    assert!(texel.allowed[0].contains(f64::from(127.0f32 / 255.0)) && !texel.allowed[0].contains(f64::from(126.0f32 / 255.0)));
    assert!(texel.allowed[1].is_any());
    image.write(1, 1, floats([1.0, 0.0, 0.0, 0.0]), 0);
    let texel = image.fetch(1, 1, 0, Robustness::None);
    assert_eq!((texel.bits, texel.undefined), (floats([1.0, 0.0, 0.0, 1.0]), [None; 4]));
    assert_eq!((texel.allowed[0].low, texel.allowed[0].high), (1.0, 1.0));
    assert_eq!(image.fetch(0, 1, 0, Robustness::None).undefined[0], undefined);
    assert_eq!(image.bytes(0).expect("level 0")[8..10], [255, 0]);
}

#[test]
fn the_environment_decides_about_what_is_out_of_bounds() {
    let mut image = Image::new(Format::R8Unorm, 2, 2, 1).expect("an image");
    image.fill(0, &[10, 20, 30, 40]).expect("4 bytes");
    for (x, y) in [(-1, 0), (2, 0), (0, -1), (0, 2), (i64::MAX, 0), (i64::MIN, i64::MIN)] {
        assert_eq!(image.fetch(x, y, 0, Robustness::None).undefined, [Some(Unspecified::ImageCoordinate); 4]);
        let robust = image.fetch(x, y, 0, Robustness::Access);
        assert_eq!((robust.undefined, robust.bits[..3].to_vec()), ([None; 4], vec![0; 3]));
        assert!(robust.allowed[3].contains(0.0) && robust.allowed[3].contains(1.0));
        assert_eq!(image.fetch(x, y, 0, Robustness::Access2).bits, floats([0.0, 0.0, 0.0, 1.0]));
        assert_eq!(image.write(x, y, [0; 4], 0), None);
    }
    assert_eq!(image.bytes(0), Some(&[10, 20, 30, 40][..]));
    for lod in [-1, 1, i64::MAX] {
        assert_eq!(image.fetch(0, 0, lod, Robustness::Access).undefined, [Some(Unspecified::ImageLevel); 4]);
        assert_eq!(image.fetch(0, 0, lod, Robustness::Access2).bits, floats([0.0, 0.0, 0.0, 1.0]));
    }
    let image = Image::new(Format::Rgba8Uint, 2, 2, 1).expect("an image");
    assert_eq!(image.fetch(5, 0, 0, Robustness::Access2).bits, [0; 4]);
}

#[test]
fn a_level_is_cleared_to_one_colour() {
    let mut image = Image::new(Format::Rg16Uint, 3, 2, 2).expect("an image");
    assert_eq!(image.clear(0, [7, 0x1234, 0, 0]), Ok(()));
    assert_eq!(image.bytes(0), Some([7, 0, 0x34, 0x12].repeat(6).as_slice()));
    assert_eq!(image.fetch(2, 1, 0, Robustness::None).undefined, [None; 4]);
    assert_eq!(image.fetch(0, 0, 1, Robustness::None).undefined[0], Some(Unspecified::Uninitialised));
    assert_eq!(image.clear(2, [0; 4]), Err(ImageError::NoLevel(2)));
    // A number that the format cannot hold is no definite colour.
    assert_eq!(image.clear(1, [7, 0x12345, 0, 0]), Ok(()));
    assert_eq!(image.fetch(0, 0, 1, Robustness::None).undefined[..2], [None, Some(Unspecified::Uninitialised)]);
}
