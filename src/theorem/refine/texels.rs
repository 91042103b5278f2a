//! Differing texels, component by component.

use smallstep_semantics::image::{Format, Numeric, unpack};
use smallstep_semantics::number::integer::mask;
use smallstep_semantics::spirv::environment::{BoundImage, Observation, ObservedImage};
use smallstep_semantics::spirv::grid::DoubtfulTexels;

use super::observe::{DifferenceKind, Texels};
use super::{Planted, Settings};
use crate::compute::given::Place;

/// A component of a texel in which AFTER differs from BEFORE.
#[derive(Clone, Debug)]
pub(super) struct Differing {
    pub(super) of: Texels,
    pub(super) format: Format,
    /// The index of BEFORE's image. Unused for attachments.
    pub(super) image: usize,
    /// The index of the texel: row after row, slice after slice.
    pub(super) texel: u64,
    pub(super) at: [u32; 3],
    pub(super) component: u8,
    pub(super) before: u64,
    /// The code in AFTER. `None` if it is undefined.
    pub(super) after: Option<u64>,
}

impl Differing {
    /// Whether the difference is certain. It is not if devices may have another value in BEFORE. A
    /// NaN in BEFORE is not certain either, since its bits are not specified.
    pub(super) fn is_wrong(&self, doubtful: &[DoubtfulTexels]) -> bool {
        let doubted = |d: &DoubtfulTexels| (d.image, d.component) == (self.image, self.component) && (d.start..d.end).contains(&self.texel);
        !self.is_nan() && !doubtful.iter().any(doubted)
    }

    /// Whether BEFORE shows a NaN.
    pub(super) fn is_nan(&self) -> bool {
        self.format.numeric() == Numeric::Float && self.number(self.before).is_nan()
    }

    fn number(&self, code: u64) -> f64 {
        let width = self.format.channels().get(usize::from(self.component)).map_or(32, |channel| channel.width);
        unpack(self.format.numeric(), width, code)
    }

    fn text(&self, code: u64) -> String {
        match self.format.numeric() {
            Numeric::Uint | Numeric::Sint => format!("{}", self.number(code)),
            _ => format!("{} ({code:#x})", self.number(code)),
        }
    }

    /// The difference as one of `components` differing components.
    pub(super) fn difference_kind(&self, components: u64) -> DifferenceKind {
        DifferenceKind::Texel {
            of: self.of,
            at: self.at,
            component: self.component,
            components,
            before: self.text(self.before),
            after: self.after.map_or("any value".into(), |code| self.text(code)),
            undefined: self.after.is_none(),
        }
    }
}

/// The code of a component in the bytes of a texel.
pub(super) fn code(format: Format, component: usize, texel: &[u8]) -> u64 {
    let channel = format.channels()[component];
    let texel = texel.iter().rev().fold(0u128, |texel, &byte| texel << 8 | u128::from(byte));
    (texel >> channel.offset) as u64 & mask(channel.width)
}

/// The components of storage images' texels in which AFTER differs from BEFORE. An image that AFTER
/// does not use keeps its initial contents.
pub(super) fn differing(before: &Observation, after: &Observation, initial: &[BoundImage], settings: &Settings) -> Vec<Differing> {
    let mut found = Vec::new();
    let images = if settings.does(Planted::Images) { &[] } else { &before.images[..] };
    for (image, b) in images.iter().enumerate() {
        let place = Place::of(&before.images, image, |b| (b.set, b.binding));
        let a = place.find(&after.images, |a| (a.set, a.binding));
        let initial_image = place.find(initial, |i| (i.set, i.binding)).map(|i| &i.image);
        let size = b.format.bytes();
        let is_undefined = |image: &ObservedImage, component: u8, texel: u64| {
            image.undefined.iter().any(|u| u.component == component && (u.start..u.end).contains(&texel))
        };
        for (texel, bytes) in (0u64..).zip(b.bytes.chunks_exact(size)) {
            let components = b.format.channels().len() - usize::from(settings.does(Planted::LastComponent));
            for component in 0..components as u8 {
                if is_undefined(b, component, texel) {
                    continue;
                }
                let shown = |contents: &[u8]| {
                    let start = texel as usize * size;
                    contents.get(start..start + size).map(|bytes| code(b.format, component.into(), bytes))
                };
                let was = code(b.format, component.into(), bytes);
                let is = match (a, initial_image) {
                    (Some(a), _) if is_undefined(a, component, texel) => None,
                    (Some(a), _) => shown(&a.bytes),
                    (None, Some(image)) => shown(image.bytes(0).unwrap_or_default()),
                    (None, None) => None,
                };
                if is != Some(was) {
                    let [width, height, _] = b.size.map(|side| u64::from(side.max(1)));
                    let at = [texel % width, texel / width % height, texel / width / height].map(|x| x as u32);
                    let of = Texels::Image(place);
                    found.push(Differing { of, format: b.format, image, texel, at, component, before: was, after: is });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::number::Why;

    fn observed(bytes: &[u8]) -> Observation {
        let image =
            ObservedImage { set: 0, binding: 2, format: Format::Rg8Uint, size: [2, 1, 1], bytes: bytes.to_vec(), undefined: Vec::new() };
        Observation { images: vec![image], ..Observation::default() }
    }

    #[test]
    fn components_differ_one_by_one() {
        let settings = Settings::default();
        let (before, after) = (observed(&[1, 2, 3, 4]), observed(&[1, 2, 3, 5]));
        assert!(differing(&before, &before, &[], &settings).is_empty());
        let found = differing(&before, &after, &[], &settings);
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!((one.at, one.component, one.before, one.after), ([1, 0, 0], 1, 4, Some(5)));
        assert!(one.is_wrong(&[]));
        let doubt = |component| DoubtfulTexels { image: 0, component, start: 1, end: 2, why: Why::Control };
        assert!(one.is_wrong(&[doubt(0)]) && !one.is_wrong(&[doubt(1)]));
    }

    #[test]
    fn an_image_that_is_not_named_holds_what_was_given() {
        use smallstep_semantics::image::Image;
        let mut image = Image::new(Format::Rg8Uint, 2, 1, 1).expect("a size");
        image.fill(0, &[1, 2, 3, 4]).expect("as many bytes");
        let images = [BoundImage { set: 0, binding: 2, image }];
        let (none, settings) = (Observation::default(), Settings::default());
        assert!(differing(&observed(&[1, 2, 3, 4]), &none, &images, &settings).is_empty());
        assert_eq!(differing(&observed(&[9, 2, 3, 4]), &none, &images, &settings).len(), 1);
    }
}
