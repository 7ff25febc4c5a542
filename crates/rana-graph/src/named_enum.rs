//! Enums whose variants have one plain name each, in files, settings and messages.

/// Gives an enum `ALL`, `name`, `Display` and `FromStr` from one table of names.
///
/// The names must be those that serde derives; a test of each enum checks this.
#[macro_export]
macro_rules! named {
    ($type:ident, $what:literal, { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $type {
            /// All variants in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name used in files and settings.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|variant| variant.name() == text).ok_or_else(|| {
                    let names = [$($name),+].join(", ");
                    format!("`{text}` is no {}; say one of: {names}", $what)
                })
            }
        }
    };
}
