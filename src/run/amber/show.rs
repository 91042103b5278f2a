//! The contents of a script's buffers as text, by their types.

use super::play::Player;
use crate::amber::{BufferId, Certainty, Choice, Scalar};
use crate::dispatch::Target;
use crate::run::Picture;

/// One scalar of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The index of its item.
    pub item: u64,
    /// The offset of its first byte.
    pub offset: u64,
    /// Its value, or "any value".
    pub text: String,
    /// How much is known of it.
    pub known: Certainty,
    /// The origin of an undefined or doubtful value.
    pub why: Option<String>,
}

/// The first `most` scalars of a buffer in flat order.
pub fn elements<'p>(player: &'p Player<'_>, id: BufferId, most: u64) -> impl Iterator<Item = Element> + 'p {
    let buffer = &player.script()[id];
    let contents = &player.buffers[id];
    (0..buffer.scalars().min(most)).filter_map(move |i| {
        let slot = buffer.slot(i)?;
        let (start, size) = (slot.offset as usize, slot.scalar.size() as usize);
        let bytes = contents.bytes.get(start..start + size)?;
        let open = contents.open(start, size);
        let known = open.map_or(Certainty::Decided, |(_, known)| known);
        let text = match (known, contents.values(start, size)) {
            (Certainty::Undefined, _) => "any value".into(),
            (_, Ok(Some(choice))) => one_of(choice, slot.scalar),
            (_, Err(_)) if contents.set(start).is_some_and(|(at, _)| at == start) => {
                let set = contents.set(start).map(|(_, set)| set.to_string()).unwrap_or_default();
                format!("{} in {set}", slot.scalar.value(slot.scalar.load(bytes)))
            }
            _ => slot.scalar.value(slot.scalar.load(bytes)).to_string(),
        };
        let why = open.and_then(|(at, _)| player.origin(id, at)).map(str::to_string);
        Some(Element { item: i / buffer.layout.scalars.max(1), offset: slot.offset, text, known, why })
    })
}

/// The possible values of a scalar, as `128 or 127`.
pub fn one_of(choice: &Choice, scalar: Scalar) -> String {
    let values: Vec<String> = choice.all().map(|bits| scalar.value(bits).to_string()).collect();
    values.join(" or ")
}

/// The contents of an image as a picture of one output. `None` for a buffer that is no image.
/// Texels with an undefined component have no value.
pub fn picture(player: &Player<'_>, id: BufferId) -> Option<Picture> {
    let (buffer, contents) = (&player.script()[id], &player.buffers[id]);
    let ((width, height), format) = (buffer.extent.image()?, buffer.format()?);
    let size = format.texel_size() as usize;
    let texel = |texel: u64| {
        let start = usize::try_from(texel * buffer.stride).ok()?;
        let bytes = contents.bytes.get(start..start.checked_add(size)?)?;
        let undefined = contents.open(start, size).is_some_and(|(_, known)| known == Certainty::Undefined);
        (!undefined).then(|| format.unpack(bytes).map(|value| (value.as_f64() as f32).to_bits()))
    };
    let pixels = u64::from(width) * u64::from(height);
    let components = format.channels().len() as u32;
    Some(Picture {
        origin: (0, 0),
        width,
        height,
        outputs: vec![Target { location: 0, components }],
        images: vec![(0..pixels).map(texel).collect()],
        endings: Vec::new(),
        steps: 0,
    })
}

/// The contents as lines, one for each item: its values, and the origin of open values.
pub fn rows(player: &Player<'_>, id: BufferId, most: u64, line: &mut dyn FnMut(String)) {
    let mut row: Option<(u64, String, Option<String>)> = None;
    let mut show = |row: Option<(u64, String, Option<String>)>| match row {
        Some((_, row, Some(why))) => line(format!("{row}: {why}")),
        Some((_, row, None)) => line(row),
        None => {}
    };
    for element in elements(player, id, most) {
        let doubt = if element.known == Certainty::Doubtful { " (in doubt)" } else { "" };
        match &mut row {
            Some((item, row, why)) if *item == element.item => {
                *row += &format!(" {}{doubt}", element.text);
                *why = why.take().or(element.why);
            }
            _ => show(row.replace((element.item, format!("[{}] {}{doubt}", element.item, element.text), element.why))),
        }
    }
    show(row);
    let all = player.script()[id].scalars();
    if all > most {
        line(format!("… {} more", all - most));
    }
}
