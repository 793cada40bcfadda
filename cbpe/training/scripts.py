"""Unicode's scripts of characters, as SentencePiece takes them to decide which characters merge with which."""

from __future__ import annotations

__all__ = ["ANY", "INHERITED", "scripts_of"]

ANY = "Common"  # of what belongs to no script: punctuation, digits, symbols
INHERITED = "Inherited"  # of what takes the script of the character before it
# Japanese writes all three within words, and the mark for a long vowel, which Unicode gives to no script.
HAN_MARK = "\u30fc"
HAN = rf"[\p{{Script=Han}}\p{{Script=Hiragana}}\p{{Script=Katakana}}{HAN_MARK}]"
# Looked for first: most texts have no other.
FREQUENT = ("Latin", "Han", "Inherited", "Cyrillic", "Greek", "Arabic", "Hangul", "Hebrew", "Devanagari", "Thai")

# All others, by their names in Unicode without spaces.
NAMES = """
    Adlam Ahom Anatolianhieroglyphs Arabic Armenian Avestan Balinese Bamum Bassavah Batak Bengali Beriaerfe
    Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadianaboriginal Carian Caucasianalbanian Chakma Cham
    Cherokee Chorasmian Coptic Cuneiform Cypriot Cyprominoan Cyrillic Deseret Devanagari Divesakuru Dogra
    Duployan Egyptianhieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek
    Gujarati Gunjalagondi Gurmukhi Gurungkhema Hangul Hanifirohingya Hanunoo Hatran Hebrew Imperialaramaic
    Inscriptionalpahlavi Inscriptionalparthian Javanese Jurchen Kaithi Kannada Kawi Kayahli Kharoshthi
    Khitansmallscript Khmer Khojki Khudawadi Kiratrai Laoo Latin Lepcha Limbu Lineara Linearb Lisu Lycian
    Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaramgondi Medefaidrin Meeteimayek
    Mendekikakui Meroiticcursive Meroitichieroglyphs Miao Modi Mongolian Mroo Multani Myanmar Nabataean
    Nagmundari Nandinagari Newa Newtailue Nkoo Nushu Nyiakengpuachuehmong Ogham Olchiki Oldhungarian Olditalic
    Oldnortharabian Oldpermic Oldpersian Oldsogdian Oldsoutharabian Oldturkic Olduyghur Olonal Oriya Osage
    Osmanya Pahawhhmong Palmyrene Paucinhau Phagspa Phoenician Protocuneiform Psalterpahlavi Rejang Runic
    Samaritan Saurashtra Seal Sharada Shavian Siddham Sidetic Signwriting Sinhala Sogdian Sorasompeng Soyombo
    Sundanese Sunuwar Sylotinagri Syriac Tagalog Tagbanwa Taile Taitham Taiviet Taiyo Takri Tamil Tangsa
    Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Tolongsiki Toto Tulutigalari Ugaritic Vaii
    Vithkuqi Wancho Warangciti Yezidi Yiii Zanabazarsquare
"""


def scripts_of(characters: str) -> dict[str, str]:
    """The script of each character, by the `regex` module's Unicode: a name of Unicode's, "Han" for Japanese kana as
    well, ANY for those of no script that it knows."""
    import regex  # slow to import, and rarely needed

    scripts = dict.fromkeys(characters, ANY)
    for name in (ANY, *FREQUENT, *NAMES.split()):
        if not characters:
            break
        try:
            pattern = regex.compile(HAN if name == "Han" else rf"\p{{Script={name}}}")
        except regex.error:  # an older Unicode, without this script
            continue
        if name == ANY:
            characters = HAN_MARK + pattern.sub("", characters) if HAN_MARK in scripts else pattern.sub("", characters)
            continue
        scripts.update(dict.fromkeys(pattern.findall(characters), name))
        characters = pattern.sub("", characters)
    return scripts
