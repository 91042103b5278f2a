//! Values, conditions and calls. Each comes with an estimate of whether it may differ
//! between threads.

use super::tree::{Expr, Kind};
use super::{Generator, Parameter, Shape, Signature, Var};

/// An expression, and whether its value may differ between threads.
type Value = (Expr, bool);

impl Generator {
    fn literal(&mut self) -> Expr {
        let n = self.random.below(5);
        Expr::text(Kind::Uint, format!("{n}u"))
    }

    /// An expression of type `uint`, uniform or not as requested.
    pub(super) fn uint(&mut self, depth: u32, uniform: bool) -> Value {
        if depth == 0 || self.percent(35) {
            return self.leaf(uniform);
        }
        match self.random.weighted(&[40, 8, 14, 7, 5, 4, 3, 4, 1]) {
            0 => {
                let op = self.random.pick(&["+", "+", "-", "^", "&", "|", "*"]);
                let (a, mixed) = self.uint(depth - 1, uniform);
                let alike = uniform || self.percent(50);
                let (b, other) = self.uint(depth - 1, alike);
                (Expr::new(Kind::Uint, &format!("($ {op} $)"), [a, b]), mixed || other)
            }
            1 => {
                let (c, mixed) = self.condition(depth - 1, uniform);
                let ((a, first), (b, second)) = self.apart(mixed, |g| (g.uint(depth - 1, uniform), g.uint(depth - 1, uniform)));
                (Expr::new(Kind::Uint, "($ ? $ : $)", [c, a, b]), mixed || first || second)
            }
            2 => self.call_of(depth - 1, uniform).unwrap_or_else(|| self.leaf(uniform)),
            3 => {
                let (effect, (e, mixed)) = (self.assignment(depth - 1, uniform), self.uint(depth - 1, uniform));
                match effect {
                    Some((effect, _)) => (Expr::new(Kind::Uint, "($, $)", [effect, e]), mixed),
                    None => (e, mixed),
                }
            }
            4 => match self.assignment(depth - 1, uniform) {
                Some((effect, mixed)) => (Expr::new(Kind::Uint, "($)", [effect]), mixed),
                None => self.leaf(uniform),
            },
            5 => self.step(uniform).unwrap_or_else(|| self.leaf(uniform)),
            6 => {
                let name = self.random.pick(&["min", "max"]);
                let ((a, mixed), (b, other)) = (self.uint(depth - 1, uniform), self.uint(depth - 1, uniform));
                (Expr::new(Kind::Uint, &format!("{name}($, $)"), [a, b]), mixed || other)
            }
            7 => self.meeting(depth - 1, uniform).unwrap_or_else(|| self.leaf(uniform)),
            // A zero that is computed from a value that may differ. The estimate says that it
            // differs too.
            _ => {
                let (a, _) = self.leaf(false);
                let zero = if self.percent(50) {
                    Expr::new(Kind::Uint, "($ & 0u)", [a])
                } else {
                    Expr::new(Kind::Uint, "($ - $)", [a.clone(), a])
                };
                (zero, true)
            }
        }
    }

    /// A value whose computation has a barrier or derivative, if that may stand here.
    fn meeting(&mut self, depth: u32, uniform: bool) -> Option<Value> {
        if self.mixed() && !self.slip() {
            return None;
        }
        self.meets = true;
        let pairs = self.fitting(|v| v.shape == Shape::Pair && v.mixed != uniform);
        if let Some(i) = self.pick(&pairs)
            && self.percent(30)
        {
            let v = &self.vars[i];
            return Some((Expr::text(Kind::Uint, format!("{}.met", v.name)), v.mixed || self.fragment));
        }
        let (e, mixed) = self.uint(depth, uniform);
        Some(match self.fragment {
            true => (Expr::new(Kind::Uint, "uint(fwidth(float($)))", [e]), true),
            false => {
                let barrier = self.barrier();
                (Expr::new(Kind::Uint, &format!("({barrier}, $)"), [e]), mixed)
            }
        })
    }

    /// A random call of a barrier.
    pub(super) fn barrier(&mut self) -> &'static str {
        self.random.pick(&[
            "AllMemoryBarrierWithGroupSync()",
            "GroupMemoryBarrierWithGroupSync()",
            "DeviceMemoryBarrierWithGroupSync()",
            "sync()",
        ])
    }

    /// Makes something under a condition. `mixed` says whether the condition may differ
    /// between threads.
    fn apart<T>(&mut self, mixed: bool, make: impl FnOnce(&mut Self) -> T) -> T {
        let before: Vec<bool> = self.vars.iter().map(|v| v.mixed).collect();
        let branch = self.branch;
        self.branch |= mixed;
        let made = make(self);
        self.branch = branch;
        for (v, before) in self.vars.iter_mut().zip(before) {
            v.mixed |= before;
        }
        made
    }

    /// The value of a variable or of a part of it.
    fn leaf(&mut self, uniform: bool) -> Value {
        if uniform && self.percent(15) {
            return (self.literal(), false);
        }
        let uniform = uniform != self.slip();
        let fits = |g: &Self, v: &Var| -> bool {
            let mixed = match v.shape {
                Shape::Group { .. } | Shape::Device | Shape::SharedPointer => true,
                Shape::Constant => return uniform,
                Shape::Bool | Shape::Atomic => return false,
                Shape::Pointer(target) | Shape::Reference(target) | Shape::PairPointer(target) => g.vars[target].mixed,
                _ => v.mixed,
            };
            mixed != uniform
        };
        let fit: Vec<usize> = (0..self.vars.len()).filter(|&i| fits(self, &self.vars[i]) && self.is_seen(i)).collect();
        match self.pick(&fit) {
            Some(i) => self.read(i, uniform),
            None => (self.literal(), false),
        }
    }

    /// An index below 4 (mask 3) or 8 (mask 7).
    fn index(&mut self, mask: u32, uniform: bool) -> Value {
        if self.percent(50) && uniform {
            let i = self.random.below(mask + 1);
            return (Expr::text(Kind::Uint, format!("{i}u")), false);
        }
        // Usually a variable, not an element of another array.
        let fit = self.fitting(|v| v.shape == Shape::Scalar && v.mixed != uniform);
        let (e, mixed) = match self.pick(&fit) {
            Some(i) if self.percent(75) => self.read(i, uniform),
            _ if self.percent(20) => self.leaf(uniform),
            _ => (self.literal(), false),
        };
        // Literals are below 8, so they need no mask of 7.
        match e.is_number() && mask == 7 {
            true => (e, mixed),
            false => (Expr::new(Kind::Uint, &format!("($ & {mask}u)"), [e]), mixed),
        }
    }

    fn read(&mut self, i: usize, uniform: bool) -> Value {
        let Var { name, shape, mixed, .. } = self.vars[i].clone();
        let text = |text: String| Expr::text(Kind::Uint, text);
        match shape {
            Shape::Scalar => (text(name), mixed),
            Shape::Pair => (text(format!("{name}.{}", self.random.pick(&["a", "b", "a", "b", "sum", "half", "first"]))), mixed),
            Shape::PairPointer(target) => (text(format!("{name}->{}", self.random.pick(&["a", "b"]))), self.vars[target].mixed),
            // No expression reads these variables directly.
            Shape::Bool | Shape::Atomic => (self.literal(), false),
            Shape::ConstantPointer => (text(format!("(*{name})")), mixed),
            Shape::SharedPointer => (text(format!("(*{name})")), true),
            Shape::Vector => (text(format!("{name}.{}", self.random.pick(&["x", "y", "z", "w"]))), mixed),
            Shape::Parameter => (text(format!("(*{name})")), mixed),
            Shape::Pointer(target) => (text(format!("(*{name})")), self.vars[target].mixed),
            Shape::Array | Shape::Reference(_) | Shape::ReferenceParameter => {
                let mixed = if let Shape::Reference(target) = shape { self.vars[target].mixed } else { mixed };
                let (index, other) = self.index(3, true);
                (Expr::new(Kind::Uint, &format!("{name}[$]"), [index]), mixed || other)
            }
            Shape::Group { .. } | Shape::Device => {
                let (uniform, mask) = (self.percent(20), self.mask(i));
                let (index, _) = self.index(mask, uniform);
                (Expr::new(Kind::Uint, &format!("{name}[$]"), [index]), true)
            }
            Shape::Constant => {
                let (index, other) = self.index(7, uniform);
                (Expr::new(Kind::Uint, "c[$]", [index]), other)
            }
        }
    }

    fn mask(&self, i: usize) -> u32 {
        if matches!(self.vars[i].shape, Shape::Group { .. } | Shape::Device) { 7 } else { 3 }
    }

    /// A condition, uniform or not as requested.
    pub(super) fn condition(&mut self, depth: u32, uniform: bool) -> Value {
        if depth > 0 && self.percent(25) {
            let op = self.random.pick(&["&&", "||"]);
            let alike = uniform || self.percent(30);
            let (a, first) = self.condition(depth - 1, alike);
            let (b, second) = self.apart(first, |g| g.condition(depth - 1, uniform));
            let (open, close) = if self.percent(20) { ("!(", ")") } else { ("(", ")") };
            return (Expr::new(Kind::Bool, &format!("{open}$ {op} ${close}"), [a, b]), first || second);
        }
        let bools = self.fitting(|v| v.shape == Shape::Bool && v.mixed != uniform);
        if let Some(i) = self.pick(&bools)
            && self.percent(35)
        {
            return (Expr::text(Kind::Bool, self.vars[i].name.clone()), self.vars[i].mixed);
        }
        let op = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let (mut a, mut mixed) = self.uint(depth, uniform);
        // With a literal as the first operand, the result is often known in advance.
        if a.is_number() {
            (a, mixed) = self.uint(depth + 1, uniform);
        }
        if self.percent(75) {
            // Few values are larger than these literals.
            let n = self.random.pick(if self.fragment { &[1, 1, 1, 1, 2] } else { &[1, 1, 1, 2, 2, 3] });
            return (Expr::new(Kind::Bool, &format!("($ {op} {n}u)"), [a]), mixed);
        }
        let (b, other) = self.uint(depth.saturating_sub(1), uniform);
        (Expr::new(Kind::Bool, &format!("($ {op} $)"), [a, b]), mixed || other)
    }

    /// A variable, or a part of it, that can be stored to: the text, the index of the variable, and
    /// whether the place is the whole variable.
    pub(super) fn place(&mut self) -> Option<(Expr, usize, bool)> {
        let own = self.fitting(|v| {
            v.writable && !matches!(v.shape, Shape::Bool | Shape::ConstantPointer | Shape::SharedPointer)
                || matches!(v.shape, Shape::Parameter | Shape::ReferenceParameter)
        });
        let shared = self.fitting(|v| matches!(v.shape, Shape::Group { .. } | Shape::Device | Shape::SharedPointer));
        let i = match self.percent(70) && !own.is_empty() {
            true => self.pick(&own)?,
            false => self.pick(&shared)?,
        };
        let name = self.vars[i].name.clone();
        let text = |text: String| Expr::text(Kind::Other, text);
        Some(match self.vars[i].shape {
            Shape::Scalar => match self.random.below(20) {
                0 => (text(format!("*same(&{name})")), i, true),
                1 => match self.fitting(|v| v.shape == Shape::Scalar && v.writable)[..] {
                    // The first variable is stored to as well.
                    [first, ..] if first != i => {
                        let mixed = self.vars[i].mixed;
                        self.store(first, mixed, true);
                        (text(format!("*second(&{}, &{name})", self.vars[first].name)), i, true)
                    }
                    _ => (text(name), i, true),
                },
                _ => (text(name), i, true),
            },
            Shape::Pair => (text(format!("{name}.{}", self.random.pick(&["a", "b", "a", "b", "half", "first"]))), i, false),
            Shape::PairPointer(_) => (text(format!("{name}->{}", self.random.pick(&["a", "b"]))), i, false),
            Shape::SharedPointer => (text(format!("*{name}")), i, false),
            Shape::Vector => (text(format!("{name}.{}", self.random.pick(&["x", "y", "z", "w"]))), i, false),
            Shape::Parameter | Shape::Pointer(_) => (text(format!("*{name}")), i, true),
            _ => {
                let (mask, uniform) = (self.mask(i), self.percent(60));
                let (index, mixed) = self.index(mask, uniform);
                if mixed {
                    self.store(i, true, false);
                }
                (Expr::new(Kind::Other, &format!("{name}[$]"), [index]), i, false)
            }
        })
    }

    /// Updates the estimate for a store.
    pub(super) fn store(&mut self, i: usize, mixed: bool, whole: bool) {
        let mixed = mixed || self.mixed();
        let i = match self.vars[i].shape {
            Shape::Pointer(target) | Shape::Reference(target) | Shape::PairPointer(target) => target,
            _ => i,
        };
        self.vars[i].mixed = mixed || self.vars[i].mixed && !whole;
        self.writes.push(i);
    }

    /// An assignment, as an expression.
    pub(super) fn assignment(&mut self, depth: u32, uniform: bool) -> Option<Value> {
        let (place, i, whole) = self.place()?;
        let (e, mixed) = self.uint(depth, uniform);
        let op = self.random.pick(&["=", "=", "=", "=", "=", "+=", "-=", "^=", "&=", "*="]);
        self.store(i, mixed, whole && op == "=");
        let mixed = mixed || op != "=" && self.vars[i].mixed || self.mixed();
        Some((Expr::new(Kind::Uint, &format!("$ {op} $"), [place, e]), mixed))
    }

    /// An increment or decrement.
    fn step(&mut self, uniform: bool) -> Option<Value> {
        let fit = self.fitting(|v| v.writable && v.shape == Shape::Scalar && v.mixed != uniform);
        let i = self.pick(&fit)?;
        let mixed = self.vars[i].mixed;
        self.store(i, mixed, true);
        let name = &self.vars[i].name;
        let text = match self.random.below(4) {
            0 => format!("{name}++"),
            1 => format!("(++{name})"),
            2 => format!("{name}--"),
            _ => format!("(--{name})"),
        };
        Some((Expr::text(Kind::Uint, text), mixed))
    }

    /// A call of a function that returns a value.
    fn call_of(&mut self, depth: u32, uniform: bool) -> Option<Value> {
        let fit: Vec<Signature> = self.functions.iter().filter(|f| f.returns && (!f.mixed || !uniform)).cloned().collect();
        if fit.is_empty() {
            return None;
        }
        let f = fit[self.random.below(fit.len() as u32) as usize].clone();
        self.call(&f, depth)
    }

    /// A call of the function, if it may be called here and there are arguments for it. The flag is
    /// whether its result may differ.
    pub(super) fn call(&mut self, f: &Signature, depth: u32) -> Option<Value> {
        if (f.meets || f.discards) && self.mixed() && !self.slip() {
            return None;
        }
        let mut e = Expr::text(Kind::Uint, format!("{}(", f.name));
        let (mut mixed, mut pointed) = (f.mixed, Vec::new());
        for (n, &(parameter, takes_mixed)) in f.parameters.iter().enumerate() {
            if n > 0 {
                e.parts.push(super::Part::Text(", ".into()));
            }
            let text = |text: String| Expr::text(Kind::Other, text);
            let uniform = !takes_mixed;
            let argument = match parameter {
                Parameter::Value => {
                    let uniform = uniform || self.percent(30);
                    let (e, differs) = self.uint(depth.min(1), uniform);
                    mixed |= differs && !takes_mixed;
                    e
                }
                Parameter::Pair => {
                    let fit = self.fitting(|v| v.shape == Shape::Pair && (!v.mixed || takes_mixed));
                    let i = self.pick(&fit)?;
                    text(self.vars[i].name.clone())
                }
                Parameter::Pointer => {
                    let fit = self.fitting(|v| {
                        (!v.mixed || takes_mixed)
                            && (v.writable && matches!(v.shape, Shape::Scalar | Shape::Pair | Shape::Pointer(_))
                                || v.shape == Shape::Parameter)
                    });
                    let i = self.pick(&fit)?;
                    pointed.push(i);
                    let name = &self.vars[i].name;
                    text(match self.vars[i].shape {
                        Shape::Scalar => format!("&{name}"),
                        Shape::Pair => format!("&{name}.a"),
                        _ => name.clone(),
                    })
                }
                Parameter::Reference => {
                    let fit = self.fitting(|v| {
                        (!v.mixed || takes_mixed) && matches!(v.shape, Shape::Array | Shape::Reference(_) | Shape::ReferenceParameter)
                    });
                    let i = self.pick(&fit)?;
                    pointed.push(i);
                    let name = &self.vars[i].name;
                    text(if self.vars[i].shape == Shape::Array { format!("@{name}") } else { name.clone() })
                }
                Parameter::Group => {
                    let fit = self.fitting(|v| matches!(v.shape, Shape::Group { .. }));
                    let i = self.pick(&fit)?;
                    text(if self.vars[i].shape == (Shape::Group { reference: true }) { "part".into() } else { "@part".into() })
                }
                Parameter::Device | Parameter::Constant => {
                    let name = if parameter == Parameter::Device { "data" } else { "c" };
                    let fit = self.fitting(|v| v.name == name);
                    self.pick(&fit)?;
                    text(name.into())
                }
            };
            e.parts.push(super::Part::Expr(argument));
        }
        e.parts.push(super::Part::Text(")".into()));
        for i in pointed {
            let whole = matches!(self.vars[i].shape, Shape::Scalar);
            self.store(i, f.leaves_mixed || mixed && !f.mixed, whole && !f.leaves_mixed && !self.vars[i].mixed);
        }
        self.meets |= f.meets;
        self.discards |= f.discards;
        self.gone |= f.discards;
        Some((e, mixed || self.branch))
    }
}
