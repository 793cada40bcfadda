from cbpe._core.splitting.bonds import Bonds
from cbpe._core.vocabulary.vocabulary import Vocabulary

def bonds_of(vocabulary: Vocabulary, split_at_spaces: bool) -> Bonds: ...
