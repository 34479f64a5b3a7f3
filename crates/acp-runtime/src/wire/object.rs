//! Objects read member by member, borrowed from their line.

/// A struct of optional members read from an object: the last of a repeated member wins, others set `extra`.
macro_rules! object {
    ($name:ident { $($key:literal => $field:ident : $type:ty),+ $(,)? }) => {
        #[derive(Debug, Default)]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: Option<$type>,)+
            /// Whether there were other members.
            pub(crate) extra: bool,
            lifetime: std::marker::PhantomData<&'a ()>,
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::{IgnoredAny, MapAccess, Visitor};
                struct Members;
                impl<'de> Visitor<'de> for Members {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        type This<'a> = $name<'a>;
                        let mut this = This::default();
                        while let Some(key) = map.next_key::<$crate::wire::Text<'de>>()? {
                            match &*key {
                                $($key => this.$field = map.next_value()?,)+
                                _ => {
                                    map.next_value::<IgnoredAny>()?;
                                    this.extra = true;
                                }
                            }
                        }
                        Ok(this)
                    }
                }
                deserializer.deserialize_map(Members)
            }
        }
    };
}

pub(crate) use object;
