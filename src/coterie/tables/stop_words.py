"""Words that say nothing about what a text is about, in the languages people cluster most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import islice

__all__ = ["LANGUAGES", "language_of", "stop_words"]

_LOOKED_AT = 1000  # texts
_LEAST_SHARE = 0.12  # of the words of a text that are such words, in any language we know
_WORD = re.compile(r"\b\w\w+\b")

# English is scikit-learn's list. The others: articles, pronouns, prepositions, conjunctions,
# auxiliary verbs and the commonest adverbs.
_LISTS = {
    "german": """
        aber alle allem allen aller alles als also am an ander andere anderen anderer auch auf aus
        bei bin bis bist da dabei dadurch daher dann das dass dasselbe dazu dein deine dem den
        denn der deren des dessen die dies diese diesem diesen dieser dieses doch dort du durch
        ein eine einem einen einer eines einige er es etwas euch euer für gegen gewesen hab habe
        haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in
        indem ins ist jede jedem jeden jeder jedes jetzt kann kein keine keinen können könnte
        machen man manche mehr mein meine mich mir mit muss musste nach nicht nichts noch nun nur
        ob oder ohne schon sehr sein seine seinem seinen seiner selbst sich sie sind so solche
        soll sollte sondern sonst über um und uns unser unter viel vom von vor war waren warum was
        weil welche wenn werden wer wie wieder will wir wird wo wurde wurden während zu zum zur
        zwar zwischen
    """,
    "french": """
        ai aie ainsi alors as au aucun aussi autre autres aux avait avec avoir car ce cela ces cet
        cette ceux chez comme comment dans de depuis des deux donc dont du elle elles en encore
        entre est et étaient était été être eu eux fait faire fois font ici il ils je la le les
        leur leurs lors lui ma mais me même mes moi moins mon ne ni non nos notre nous on ont ou
        où par parce pas peu peut plus pour pourquoi qu quand que quel quelle qui sa sans se sera
        ses si soit son sont sous sur ta te tes toi ton tous tout toute toutes très tu un une vers
        vos votre vous
    """,
    "spanish": """
        al algo algunos ante antes aquí así aunque cada como con contra cual cuando de del desde
        donde dos durante el él ella ellas ellos en entre era eran es esa ese eso esta está están
        este esto estos fue fueron ha había han hasta hay la las le les lo los más me mi mientras
        mismo mucho muchos muy nada ni no nos nosotros nuestra nuestro otra otro otros para pero
        poco por porque que qué quien se sea ser si sí sido sin sobre solo son su sus también tan
        tanto te tiene tienen todo todos tu tus un una uno unos usted ya yo
    """,
    "italian": """
        ad agli ai al alla alle allo anche ancora avere aveva che chi ci come con contro cosa cui
        da dal dalla dalle dei del della delle dello di dopo dove due ed era erano essere fino fra
        gli ha hanno ho il in io la le lei li lo loro lui ma me mi mio molto ne nei nel nella
        nelle no noi non nostro ogni oltre per perché più poco prima può qua quale quando quanto
        quasi quella quelle quello questa queste questi questo qui se sei senza si sia solo sono
        sopra sotto sta stato su sua sue sui sul sulla suo tra tu tutti tutto un una uno vi voi
    """,
    "portuguese": """
        ao aos aquela aquele as às até com como da das de dela dele depois do dos durante ela elas
        ele eles em entre era eram essa esse esta está este estão eu foi foram há isso isto já lhe
        mais mas me mesmo meu minha muito muitos na não nas nem no nos nós nossa nosso num numa os
        ou para pela pelas pelo pelos por porque qual quando que quem são se sem ser seu seus só
        sobre sua suas também tem têm ter um uma umas uns você vocês
    """,
    "dutch": """
        aan al alle als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus
        een eens en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand
        iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet niets
        nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot uit uw van veel voor
        want waren was wat we wel werd wezen wie wij wil worden wordt zal ze zei zelf zich zij
        zijn zo zonder zou
    """,
}
LANGUAGES = ("english", *_LISTS)


@cache
def stop_words(language: str) -> frozenset[str]:
    """The words of a language; none for ""."""
    if not language:
        return frozenset()
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(_LISTS[language].split())


def language_of(texts: Iterable[str]) -> str:
    """The language whose commonest words make up most of these texts; "" if none stands out.

    >>> language_of(["der Hund und die Katze", "es ist nicht so"])
    'german'
    >>> language_of(["x17 b22", "b23 c1"])
    ''
    """
    counts: Counter[str] = Counter()
    for text in islice(texts, _LOOKED_AT):
        counts.update(_WORD.findall(text.lower()))
    total = counts.total()
    share = {
        language: sum(counts[word] for word in stop_words(language)) / max(total, 1)
        for language in LANGUAGES
    }
    best = max(share, key=share.__getitem__)
    return best if share[best] >= _LEAST_SHARE else ""
