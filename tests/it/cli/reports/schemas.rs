//! Reports against the public schemas of their forms.
