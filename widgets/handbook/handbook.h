#pragma once

// The handbook as text: pages of Markdown, their headings, and a search over their sections.

#include <QString>
#include <QStringList>

#include <vector>

namespace orrery::ui {

struct HandbookSection {
    QString heading;  ///< as it is read, without marks
    int level = 1;
    QString text;  ///< Markdown below it, up to the next heading
};

struct HandbookPage {
    QString file;   ///< `serving.md`
    QString title;  ///< its first heading
    QString text;   ///< Markdown as it stands in the file
    std::vector<HandbookSection> sections;
};

/// What a search found: a section, and the line of it that has the first of the words.
struct HandbookHit {
    int page = 0, section = 0;
    QString line;
};

class Handbook {
public:
    /// The Markdown files of a folder, README first, then by title; empty where there is none.
    static Handbook of(const QString& folder);
    const std::vector<HandbookPage>& pages() const { return pages_; }
    const QString& folder() const { return folder_; }  ///< that its pictures are named from
    int find(const QString& file) const;               ///< −1: no such page
    /// By the anchor that Markdown viewers give a heading: lower case, `-` for spaces; 0 where there is none.
    int section(int page, const QString& anchor) const;
    /// Sections that have every word, those with words in headings first; at most 60.
    std::vector<HandbookHit> search(const QString& words) const;

private:
    QString folder_;
    std::vector<HandbookPage> pages_;
};

/// Without the marks of Markdown: `**Roofline** ([x](y))` as `Roofline (x)`.
QString plainText(QString markdown);

}  // namespace orrery::ui
