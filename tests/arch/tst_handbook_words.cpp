// Is the handbook in plain English: short sentences, one idea each, the field's words? Are the texts of windows?

#include <QtTest/QtTest>

namespace {

/// What is read as one: a paragraph, an item of a list, a cell of a table. Code in blocks is left out, `code` in a line
/// is one word.
QStringList passagesOf(const QString& text) {
    static const QRegularExpression item(QStringLiteral("^([-*]|\\d+\\.)\\s+")), code(QStringLiteral("`[^`]*`")),
        target(QStringLiteral("\\]\\([^)]*\\)"));
    QStringList passages;
    bool fenced = false, apart = true;
    for (const QString& line : text.split(QLatin1Char('\n'))) {
        QString words = line.trimmed();
        const bool fence = words.startsWith(QLatin1String("```"));
        if (fence) fenced = !fenced;
        const bool quoted = apart && line.startsWith(QLatin1String("    "));
        if (fence || fenced || quoted || words.isEmpty() || words.startsWith(QLatin1Char('#'))) {
            apart = true;
            continue;
        }
        if (words.startsWith(QLatin1Char('|'))) {
            passages += words.replace(code, QStringLiteral("code")).split(QLatin1Char('|'));
            apart = true;
        } else if (apart || item.match(words).hasMatch()) {
            passages << words.remove(item);
            apart = false;
        } else {
            passages.back() += QLatin1Char(' ') + words;
        }
    }
    // Not line by line: code and links may stand across two.
    for (QString& passage : passages)
        passage.replace(code, QStringLiteral("code")).replace(target, QStringLiteral("]"));
    return passages;
}

QStringList sentencesOf(const QString& passage) {
    static const QRegularExpression end(QStringLiteral("(?<=[.!?])[)\"”*_]*\\s+"));
    return passage.split(end, Qt::SkipEmptyParts);
}

/// What a reader takes in at once: up to the next full stop, semicolon or colon.
QStringList partsOf(const QString& passage) {
    static const QRegularExpression end(QStringLiteral("(?<=[.!?;:])[)\"”*_]*\\s+"));
    return passage.split(end, Qt::SkipEmptyParts);
}

/// What two readers stumbled over, and its like.
const QRegularExpression& stumbles() {
    static const QRegularExpression words(
        QStringLiteral("\\b(hangs? (up)?on|bears? [\\d.]+|promise kept|kept rows?|reaches up by|as it stands|"
                       "(is|are|was|were) told (from|by|with)|missed by|misses by|stands? in for|err alike|"
                       "is said as|until its end was waited for)\\b"));
    return words;
}

/// Texts in quotes, pieces in a row joined.
QStringList literalsOf(const QString& source) {
    static const QRegularExpression comment(QStringLiteral("^\\s*//.*$"), QRegularExpression::MultilineOption),
        seam(QStringLiteral("(?<!\\\\)\"\\s*\\n\\s*\"(?!\")")),
        literal(QStringLiteral("\"((?:[^\"\\\\\\n]|\\\\.)*)\""));
    QString text = source;
    text.remove(comment).remove(seam);
    QStringList found;
    for (auto at = literal.globalMatch(text); at.hasNext();) found << at.next().captured(1);
    return found;
}

QString textOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

qsizetype wordsOf(const QString& sentence) {
    static const QRegularExpression spaces(QStringLiteral("\\s+")), letter(QStringLiteral("[\\p{L}\\p{N}]"));
    return sentence.split(spaces).filter(letter).size();
}

}  // namespace

class TestHandbookWords : public QObject {
    Q_OBJECT
private slots:
    void aSentenceHasOneIdea() {
        QCOMPARE(
            sentencesOf(passagesOf("# Head\n\nOne two. Three\n`a b` five\n- six\n\n```\nno\n```\n").join(' ')).size(),
            2);
        QCOMPARE(wordsOf(passagesOf("Three\n`a b` [five](x.md \"y z\") – six").front()), qsizetype(4));
        qsizetype sentences = 0;
        QStringList longer;
        const QDir folder(QStringLiteral(ORRERY_SOURCE "/resources/handbook"));
        for (const QString& name : folder.entryList({QStringLiteral("*.md")})) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            for (const QString& passage : passagesOf(QString::fromUtf8(file.readAll()))) {
                for (const QString& sentence : sentencesOf(passage)) {
                    ++sentences;
                    if (const qsizetype words = wordsOf(sentence); words > 40)
                        longer << QStringLiteral("%1, %2 words: %3").arg(name).arg(words).arg(sentence);
                }
            }
        }
        QVERIFY(sentences > 2000);
        QVERIFY2(longer.isEmpty(), qPrintable(longer.join(QLatin1Char('\n'))));
    }

    void aPartOfASentenceIsReadAtOnce() {
        QCOMPARE(partsOf("One: two; three. Four 1:2").size(), 4);
        QStringList longer;
        for (const QFileInfo& page : pages())
            for (const QString& passage : passagesOf(textOf(page.filePath())))
                for (const QString& part : partsOf(passage))
                    if (const qsizetype words = wordsOf(part); words > 32)
                        longer << QStringLiteral("%1, %2 words: %3").arg(page.fileName()).arg(words).arg(part);
        QVERIFY2(longer.isEmpty(), qPrintable(longer.join(QLatin1Char('\n'))));
    }

    // Before the first heading below the title: a command, or where in the window.
    void everyPageSaysHowToGetThere() {
        static const QRegularExpression place(QStringLiteral("orrery-cli|window|Ctrl\\+|\\bF1\\b|▸"));
        for (const QFileInfo& page : pages()) {
            const QString text = textOf(page.filePath());
            QVERIFY2(text.left(text.indexOf(QLatin1String("\n## "))).contains(place), qPrintable(page.fileName()));
        }
    }

    void nobodyStumbles() {
        QVERIFY(stumbles().match("a mean hangs on few kernels").hasMatch() &&
                stumbles().match("it bears 11.3 requests/s").hasMatch() &&
                !stumbles().match("the bearing depends on the load").hasMatch());
        QStringList found;
        const auto look = [&found](const QString& where, const QString& text) {
            if (const auto match = stumbles().match(text); match.hasMatch())
                found << where + QStringLiteral(": ") + match.captured() + QStringLiteral(" in: ") + text;
        };
        for (const QFileInfo& page : pages())
            for (const QString& passage : passagesOf(textOf(page.filePath()))) look(page.fileName(), passage);
        qsizetype texts = 0;
        for (const char* folder : {"app/window", "app/document", "widgets"}) {
            QDirIterator sources(QStringLiteral(ORRERY_SOURCE "/") + QLatin1String(folder), {QStringLiteral("*.cpp")},
                                 QDir::Files, QDirIterator::Subdirectories);
            while (sources.hasNext()) {
                const QString path = sources.next();
                for (const QString& literal : literalsOf(textOf(path))) ++texts, look(path, literal);
            }
        }
        QVERIFY(texts > 2000);
        QVERIFY2(found.isEmpty(), qPrintable(found.join(QLatin1Char('\n'))));
    }

private:
    static QFileInfoList pages() {
        return QDir(QStringLiteral(ORRERY_SOURCE "/resources/handbook")).entryInfoList({QStringLiteral("*.md")});
    }
};

QTEST_GUILESS_MAIN(TestHandbookWords)
#include "tst_handbook_words.moc"
