#include "widgets/handbook/handbook_view.h"

#include "widgets/common/icon_button.h"
#include "widgets/common/theme.h"

#include <QDesktopServices>
#include <QEvent>
#include <QHeaderView>
#include <QImage>
#include <QLineEdit>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBrowser>
#include <QTextFrame>
#include <QTextTable>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace orrery::ui {

namespace {

constexpr int pageRole = Qt::UserRole, sectionRole = Qt::UserRole + 1;
constexpr int listedLevels = 3;

QTextBlock headingBlock(const QTextDocument& text, int number) {
    int seen = -1;
    for (QTextBlock block = text.begin(); block.isValid(); block = block.next())
        if (block.blockFormat().headingLevel() > 0 && ++seen == number) return block;
    return text.begin();
}

void dressTables(QTextFrame* frame, const Palette& colours) {
    for (QTextFrame* each : frame->childFrames()) {
        if (auto* table = qobject_cast<QTextTable*>(each)) {
            QTextTableFormat format = table->format();
            format.setBorder(1);
            format.setBorderCollapse(true);
            format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
            format.setBorderBrush(colours.line);
            format.setCellPadding(4);
            format.setCellSpacing(0);
            format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
            table->setFormat(format);
        }
        dressTables(each, colours);
    }
}

// Qt's Markdown reader leaves sizes and colours to us.
void dress(QTextDocument& text) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const int unit = theme.unit();
    for (QTextBlock block = text.begin(); block.isValid(); block = block.next()) {
        QTextCursor cursor(block);
        QTextBlockFormat format = block.blockFormat();
        const bool code =
            format.hasProperty(QTextFormat::BlockCodeFence) || format.hasProperty(QTextFormat::BlockCodeLanguage);
        if (const int level = format.headingLevel(); level > 0) {
            QTextCharFormat letters;
            letters.setFont(theme.font(level <= 1 ? FontRole::Display : FontRole::Title));
            letters.setFontWeight(QFont::DemiBold);
            cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
            cursor.mergeCharFormat(letters);
            format.setTopMargin(level <= 1 ? 0 : 2 * unit);
            format.setBottomMargin(unit);
        } else if (code) {
            format.setBackground(colours.raised);
            format.setLeftMargin(unit);
            format.setTopMargin(0);
            format.setBottomMargin(0);
            format.setNonBreakableLines(false);
        } else if (block.textList()) {
            format.setBottomMargin(unit / 2.0);
        } else if (!cursor.currentTable()) {
            format.setBottomMargin(unit);
            format.setLineHeight(130, QTextBlockFormat::ProportionalHeight);
        }
        QTextCursor(block).setBlockFormat(format);
        for (auto piece = block.begin(); !piece.atEnd(); ++piece) {
            const QTextFragment fragment = piece.fragment();
            QTextCharFormat letters = fragment.charFormat();
            if (!letters.fontFixedPitch() && !code && !letters.isAnchor()) continue;
            QTextCharFormat change;
            if (letters.isAnchor()) change.setForeground(colours.accent);
            if (letters.fontFixedPitch() || code) change.setFont(theme.font(FontRole::Mono));
            QTextCursor part(&text);
            part.setPosition(fragment.position());
            part.setPosition(fragment.position() + fragment.length(), QTextCursor::KeepAnchor);
            part.mergeCharFormat(change);
            if (code) break;  // one font for all of it
        }
    }
    dressTables(text.rootFrame(), colours);
}

// Pictures are as wide as the page at most. Qt draws them as large as they are.
void fitPictures(QTextDocument& text, double widest) {
    for (QTextBlock block = text.begin(); block.isValid(); block = block.next()) {
        for (auto piece = block.begin(); !piece.atEnd(); ++piece) {
            const QTextFragment fragment = piece.fragment();
            if (!fragment.charFormat().isImageFormat()) continue;
            QTextImageFormat picture = fragment.charFormat().toImageFormat();
            const auto image = text.resource(QTextDocument::ImageResource, QUrl(picture.name())).value<QImage>();
            if (image.isNull()) continue;
            const double wide = std::min<double>(image.width(), std::max(widest, 1.0));
            if (picture.width() == wide) continue;
            picture.setWidth(wide);
            picture.setHeight(wide * image.height() / image.width());
            QTextCursor part(&text);
            part.setPosition(fragment.position());
            part.setPosition(fragment.position() + fragment.length(), QTextCursor::KeepAnchor);
            part.setCharFormat(picture);
            break;  // the block's pieces are others now; a picture stands in a paragraph of its own
        }
    }
}

/// QTextDocument asks its parent for what a page names, and some forms of that come as bytes.
class PageText : public QTextDocument {
public:
    using QTextDocument::QTextDocument;

protected:
    QVariant loadResource(int type, const QUrl& name) override {
        if (type != ImageResource || !name.isLocalFile()) return {};
        return QImage(name.toLocalFile());
    }
};

}  // namespace

HandbookView::HandbookView(Handbook book, QWidget* parent) : QWidget(parent), book_(std::move(book)) {
    setObjectName(QStringLiteral("handbookView"));
    setAccessibleName(tr("Handbook"));
    const int unit = Theme::instance().unit();
    auto* row = new QVBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setObjectName(QStringLiteral("handbook.split"));
    split->setAccessibleName(tr("Contents and page"));
    split->setToolTip(tr("Drag the border to give one side more room"));
    split->setChildrenCollapsible(false);
    row->addWidget(split);
    auto* left = new QWidget(split);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(unit, unit, unit / 2, unit);
    column->setSpacing(unit);
    auto* top = new QHBoxLayout;
    back_ = new IconButton(QStringLiteral("go-previous"), tr("Back to the previous page (Alt+Left)"),
                           QStringLiteral("handbook.back"), left);
    back_->setShortcut(QKeySequence(Qt::ALT | Qt::Key_Left));
    back_->setEnabled(false);
    line_ = new QLineEdit(left);
    line_->setObjectName(QStringLiteral("handbook.search"));
    line_->setAccessibleName(tr("Search the handbook"));
    line_->setPlaceholderText(tr("Search"));
    line_->setToolTip(tr("Finds sections with all of these words"));
    line_->setClearButtonEnabled(true);
    top->addWidget(back_);
    top->addWidget(line_, 1);
    column->addLayout(top);
    list_ = new QTreeWidget(left);
    list_->setObjectName(QStringLiteral("handbook.contents"));
    list_->setAccessibleName(tr("Contents"));
    list_->setToolTip(tr("Pages and their headings, or what the search found"));
    list_->setHeaderHidden(true);
    list_->setFrameShape(QFrame::NoFrame);
    column->addWidget(list_, 1);
    split->addWidget(left);
    text_ = new QTextBrowser(split);
    text_->setObjectName(QStringLiteral("handbook.page"));
    text_->setAccessibleName(tr("Page of the handbook"));
    text_->setToolTip(tr("Links lead to other pages"));
    text_->setFrameShape(QFrame::NoFrame);
    text_->setOpenLinks(false);
    text_->viewport()->installEventFilter(this);
    split->addWidget(text_);
    split->setStretchFactor(0, 0);
    split->setStretchFactor(1, 1);
    split->setSizes({30 * unit, 70 * unit});
    connect(line_, &QLineEdit::textChanged, this,
            [this](const QString& words) { words.trimmed().isEmpty() ? showContents() : showHits(words); });
    connect(line_, &QLineEdit::returnPressed, this, [this] {
        if (QTreeWidgetItem* first = list_->topLevelItem(0); first && !line_->text().trimmed().isEmpty())
            list_->setCurrentItem(first);
    });
    connect(list_, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
        if (item && item->data(0, pageRole).isValid())
            open(item->data(0, pageRole).toInt(), item->data(0, sectionRole).toInt());
    });
    connect(text_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        if (!link.isRelative()) {
            QDesktopServices::openUrl(link);
            return;
        }
        const QString file = link.path().isEmpty() ? book_.pages()[std::size_t(page_)].file : link.path();
        (void)open(link.hasFragment() ? file + QLatin1Char('#') + link.fragment() : file);
    });
    connect(back_, &QToolButton::clicked, this, &HandbookView::back);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        render();
        goTo(section_);
    });
    setFocusProxy(text_);
    showContents();
    if (!book_.pages().empty()) open(0, 0);
}

void HandbookView::showContents() {
    const QSignalBlocker quiet(list_);
    list_->clear();
    for (std::size_t p = 0; p < book_.pages().size(); ++p) {
        const HandbookPage& page = book_.pages()[p];
        auto* top = new QTreeWidgetItem(list_, {page.title});
        top->setToolTip(0, page.title);
        top->setData(0, pageRole, int(p));
        top->setData(0, sectionRole, 0);
        for (std::size_t s = 1; s < page.sections.size(); ++s) {
            if (page.sections[s].level > listedLevels) continue;
            auto* item = new QTreeWidgetItem(top, {page.sections[s].heading});
            item->setToolTip(0, page.sections[s].heading);
            item->setData(0, pageRole, int(p));
            item->setData(0, sectionRole, int(s));
        }
        top->setExpanded(int(p) == page_);
    }
}

void HandbookView::showHits(const QString& words) {
    const QSignalBlocker quiet(list_);
    list_->clear();
    for (const HandbookHit& hit : book_.search(words)) {
        const HandbookPage& page = book_.pages()[std::size_t(hit.page)];
        const QString heading = page.sections[std::size_t(hit.section)].heading;
        auto* item = new QTreeWidgetItem(
            list_, {hit.section == 0 ? page.title : QStringLiteral("%1 › %2").arg(page.title, heading)});
        item->setToolTip(0, item->text(0) + QLatin1Char('\n') + hit.line);
        item->setData(0, pageRole, hit.page);
        item->setData(0, sectionRole, hit.section);
    }
    if (list_->topLevelItemCount() == 0) {
        auto* none = new QTreeWidgetItem(list_, {tr("No section has these words")});
        none->setFlags(Qt::NoItemFlags);
    }
}

bool HandbookView::open(const QString& place) {
    const int page = book_.find(place.section(QLatin1Char('#'), 0, 0));
    if (page < 0) return false;
    const QString anchor = place.section(QLatin1Char('#'), 1);
    open(page, anchor.isEmpty() ? 0 : book_.section(page, anchor));
    return true;
}

void HandbookView::open(int page, int section) {
    if (page < 0 || std::size_t(page) >= book_.pages().size()) return;
    if (page_ >= 0 && (page != page_ || section != section_)) before_.emplace_back(page_, section_);
    back_->setEnabled(!before_.empty());
    const bool another = page != page_;
    page_ = page;
    section_ = section;
    if (another) render();
    goTo(section);
    if (!line_->text().trimmed().isEmpty()) return;
    const QSignalBlocker quiet(list_);
    if (QTreeWidgetItem* item = list_->topLevelItem(page)) {
        if (another) item->setExpanded(true);
        if (!list_->currentItem() || list_->currentItem()->data(0, pageRole).toInt() != page)
            list_->setCurrentItem(item);
    }
}

void HandbookView::back() {
    if (before_.empty()) return;
    const auto [page, section] = before_.back();
    before_.pop_back();
    const auto kept = before_;
    open(page, section);
    before_ = kept;
    back_->setEnabled(!before_.empty());
}

void HandbookView::render() {
    if (page_ < 0) return;
    // Apart from the view, which would lay everything out again at each piece of text.
    auto* made = new PageText(text_);
    made->setBaseUrl(QUrl::fromLocalFile(book_.folder() + QLatin1Char('/')));
    made->setDefaultFont(Theme::instance().font(FontRole::Body));
    made->setDocumentMargin(2 * Theme::instance().unit());
    made->setMarkdown(book_.pages()[std::size_t(page_)].text, QTextDocument::MarkdownDialectGitHub);
    dress(*made);
    fitPictures(*made, room());
    text_->setDocument(made);
}

double HandbookView::room() const {
    // Always as with a scroll bar: whether there is one depends on how high the pictures are.
    return text_->width() - text_->verticalScrollBar()->sizeHint().width() - 4.0 * Theme::instance().unit() - 2;
}

bool HandbookView::eventFilter(QObject* watched, QEvent* event) {
    if (text_ && watched == text_->viewport() && event->type() == QEvent::Resize)
        fitPictures(*text_->document(), room());
    return QWidget::eventFilter(watched, event);
}

void HandbookView::goTo(int section) {
    const QTextBlock block = headingBlock(*text_->document(), section);
    QTextCursor cursor(block);
    text_->setTextCursor(cursor);
    text_->verticalScrollBar()->setValue(section == 0 ? 0
                                                      : text_->verticalScrollBar()->value() +
                                                            text_->cursorRect(cursor).top() - Theme::instance().unit());
}

}  // namespace orrery::ui
