#pragma once

#include "widgets/handbook/handbook.h"

#include <QWidget>

class QLineEdit;
class QTextBrowser;
class QToolButton;
class QTreeWidget;

namespace orrery::ui {

/// The handbook to read: contents and search at the left, the page at the right. Links between pages are followed,
/// those to the web are handed to the browser.
class HandbookView : public QWidget {
    Q_OBJECT
public:
    HandbookView(Handbook book, QWidget* parent = nullptr);

    const Handbook& book() const { return book_; }
    /// Opens `serving.md` or `serving.md#a-file`; false if there is no such page.
    bool open(const QString& place);
    void open(int page, int section);
    int page() const { return page_; }
    int section() const { return section_; }
    QLineEdit* line() const { return line_; }
    QTreeWidget* list() const { return list_; }
    QTextBrowser* text() const { return text_; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;  ///< pictures follow the page's width

private:
    double room() const;  ///< for pictures, pixels
    void showContents();
    void showHits(const QString& words);
    void render();
    void goTo(int section);
    void back();

    Handbook book_;
    int page_ = -1, section_ = 0;
    std::vector<std::pair<int, int>> before_;
    QLineEdit* line_;
    QTreeWidget* list_;
    QTextBrowser* text_;
    QToolButton* back_;
};

}  // namespace orrery::ui
