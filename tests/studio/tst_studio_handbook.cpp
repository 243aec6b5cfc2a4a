// Is help where the hands are: F1 opens the page about what has the focus, search finds sections, links lead on, and
// Ctrl+K finds methods, panels, parameters, headings, and commands by what they do?

#include "app/window/help/find_anything.h"
#include "app/window/help/handbook_places.h"
#include "app/window/help/handbook_window.h"
#include "app/window/main_window.h"
#include "app/window/page.h"
#include "app/window/studio.h"
#include "app/window/welcome/examples.h"
#include "methods/method.h"
#include "store/lessons/lesson.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/handbook/handbook_view.h"
#include "widgets/welcome/palette_model.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioHandbook : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        QFile::remove(home_.filePath("orrery.ini"));
        window_ = std::make_unique<MainWindow>();
        window_->resize(1280, 720);
        window_->show();
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }));
    }
    void cleanup() { window_.reset(); }

    void everyPartOfTheWindowHasAPage() {
        const ui::Handbook book = ui::Handbook::of(handbookFolder());
        QVERIFY(book.pages().size() > 20);
        QCOMPARE(book.pages().front().file, QStringLiteral("README.md"));
        QStringList ids;
        for (const Page* page : window_->studio().router.pages()) ids << page->card().id;
        for (const Dock* dock : window_->docks().all()) ids << dock->objectName();
        QWidget view;  // of a page, with a place of its own
        view.setObjectName(QStringLiteral("gpu.counters"));
        const QString ofView = handbookOf(&view);
        QVERIFY(book.section(book.find(ofView.section('#', 0, 0)), ofView.section('#', 1)) > 0);
        for (const QString& id : ids) {
            const QString place = handbookOf(id);
            QVERIFY2(!place.isEmpty(), qPrintable(id));
            const int page = book.find(place.section('#', 0, 0));
            QVERIFY2(page >= 0, qPrintable(id + " " + place));
            if (const QString anchor = place.section('#', 1); !anchor.isEmpty())
                QVERIFY2(book.section(page, anchor) > 0, qPrintable(place));
        }
    }

    void everyLinkLeadsSomewhere() {
        const ui::Handbook book = ui::Handbook::of(handbookFolder());
        static const QRegularExpression link(QStringLiteral("\\]\\(((?:[^)#:\\s]+\\.md)?)(?:#([^)]*))?\\)"));
        for (const ui::HandbookPage& page : book.pages()) {
            QVERIFY2(page.text.startsWith("# "), qPrintable(page.file));
            for (auto at = link.globalMatch(page.text); at.hasNext();) {
                const auto match = at.next();
                if (match.captured(1).contains('/')) continue;  // the source's, not the handbook's
                // A place of the same page has no file.
                const int to = book.find(match.captured(1).isEmpty() ? page.file : match.captured(1));
                QVERIFY2(to >= 0, qPrintable(page.file + ": " + match.captured(0)));
                if (!match.captured(2).isEmpty())
                    QVERIFY2(book.section(to, match.captured(2)) > 0, qPrintable(page.file + ": " + match.captured(0)));
            }
        }
    }

    void f1OpensThePageOfWhatHasTheFocus() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->live().snapshot() != nullptr; }, 20000));
        window_->studio().router.show(QStringLiteral("training"));
        QTest::keyClick(window_.get(), Qt::Key_F1);
        auto* help = window_->findChild<HandbookWindow*>();
        QVERIFY(help && help->isVisible());
        ui::HandbookView* view = help->view();
        QCOMPARE(fileOf(*view), QStringLiteral("training.md"));
        QCOMPARE(handbookOf(window_->resultView("roofline")), QStringLiteral("README.md#the-views"));
        // Every heading of the page is one of the text, in the same order, or anchors would lead astray.
        for (const ui::HandbookPage& page : view->book().pages()) {
            QVERIFY(view->open(page.file));
            std::size_t headings = 0;
            const QTextDocument& text = *view->text()->document();
            for (QTextBlock block = text.begin(); block.isValid(); block = block.next()) {
                if (block.blockFormat().headingLevel() == 0) continue;
                QVERIFY2(headings < page.sections.size(), qPrintable(page.file + ": " + block.text()));
                QCOMPARE(block.text().simplified(), page.sections[headings].heading);
                ++headings;
            }
            QCOMPARE(headings, page.sections.size());
        }
    }

    void picturesAreShownAndNeverWiderThanThePage() {
        window_->actions().find("helpHandbook")->trigger();
        ui::HandbookView* view = window_->findChild<HandbookWindow*>()->view();
        view->window()->resize(900, 600);
        QVERIFY(view->open("README.md"));
        const auto pictures = [&] {
            std::vector<QTextImageFormat> found;
            const QTextDocument& text = *view->text()->document();
            for (QTextBlock block = text.begin(); block.isValid(); block = block.next())
                for (auto piece = block.begin(); !piece.atEnd(); ++piece)
                    if (piece.fragment().charFormat().isImageFormat())
                        found.push_back(piece.fragment().charFormat().toImageFormat());
            return found;
        };
        QVERIFY(!pictures().empty());
        for (const int wide : {900, 620}) {
            view->window()->resize(wide, 600);
            QTest::qWait(50);
            for (const QTextImageFormat& picture : pictures()) {
                const QTextDocument& text = *view->text()->document();
                const auto image = text.resource(QTextDocument::ImageResource, QUrl(picture.name())).value<QImage>();
                QVERIFY2(!image.isNull(), qPrintable(picture.name()));
                QVERIFY(picture.width() > 100 && picture.width() <= view->text()->viewport()->width());
                QVERIFY(std::abs(picture.height() / picture.width() - double(image.height()) / image.width()) < 0.01);
            }
        }
    }

    void searchFindsSections() {
        window_->actions().find("helpHandbook")->trigger();
        ui::HandbookView* view = window_->findChild<HandbookWindow*>()->view();
        view->line()->setFocus();
        QTest::keyClicks(view->line(), "chunked prompts");
        const auto hits = view->book().search("ridge bandwidths");
        QVERIFY(!hits.empty());
        QVERIFY(std::ranges::any_of(hits, [&](const auto& hit) {
            return view->book().pages()[std::size_t(hit.page)].sections[std::size_t(hit.section)].heading ==
                   "The views";
        }));
        view->line()->clear();
        QTest::keyClicks(view->line(), "goodput");
        QVERIFY(view->list()->topLevelItemCount() > 0);
        QTest::keyClick(view->line(), Qt::Key_Return);
        QVERIFY(fileOf(*view).startsWith("serving"));
        view->line()->clear();
        QTest::keyClicks(view->line(), "zyzzyva");
        QVERIFY(view->list()->topLevelItem(0)->text(0).contains("No section"));
    }

    void findAnythingFindsEverything() {
        QStringList opened;
        ui::PaletteModel model;
        std::vector<ui::PaletteModel::Item> items;
        for (QAction* action : window_->actions().list())
            items.push_back({{action->text().remove('&'), {}, action->statusTip(), {}, {}}, {}, {}, 0});
        const auto found = findables(window_->studio(), [&](const QString& place) { opened << place; });
        for (const auto& more : {window_->studio().router.findable(), found})
            for (const ui::PaletteEntry& entry : more) items.push_back({entry, {}, {}, 0});
        model.setItems(std::move(items));
        const auto position = [&](const QString& words, const QString& title) {
            model.setPattern(words);
            for (int row = 0; row < std::min(model.rowCount(), 10); ++row)
                if (model.at(row).entry.title.compare(title, Qt::CaseInsensitive) == 0) return row;
            return -1;
        };
        for (const Method& method : builtinMethods()) {
            const QString title = QString::fromUtf8(method.card.title.data(), qsizetype(method.card.title.size()));
            QVERIFY2(position(title, title) == 0, qPrintable(title));
            const QString id = QString::fromUtf8(method.card.id.data(), qsizetype(method.card.id.size()));
            QVERIFY2(position(id, title) >= 0, qPrintable(id));
        }
        for (const Dock* dock : window_->docks().all())
            QVERIFY2(position(dock->windowTitle(), dock->windowTitle()) >= 0, qPrintable(dock->windowTitle()));
        for (const Page* page : window_->studio().router.pages()) {
            model.setPattern(page->card().title);
            QVERIFY2(model.rowCount() > 0, qPrintable(page->card().title));
        }
        QVERIFY(position("bandwidth", "bandwidth") >= 0);
        QVERIFY(position("token_budget", "token_budget") >= 0);
        QVERIFY(position("the views", "The views") == 0);
        // By what it does: no command is called so.
        model.setPattern("sweep");
        QVERIFY(model.rowCount() > 0 && model.at(0).entry.title.contains("sweep", Qt::CaseInsensitive));
        QVERIFY2(position("projector", "Teach") >= 0 || position("presenting", "Teach") >= 0, "by its meaning");
        for (const ui::PaletteEntry& entry : found)
            if (entry.group == "Handbook" && entry.title == "The views") entry.run();
        QCOMPARE(opened, QStringList{"README.md#The views"});
    }

    /// As a person asks, by the line itself: `page core`, and each page, lesson, panel, method, parameter and heading.
    void thePaletteFindsByKindAndName() {
        QTRY_VERIFY(window_->actions().find("lesson.roofline"));
        window_->actions().find("helpPalette")->trigger();
        auto* line = window_->findChild<QLineEdit*>("commandPalette.line");
        auto* list = window_->findChild<QListView*>("commandPalette.list");
        QVERIFY(line && list);
        const auto finds = [&](const QString& words, const QString& title) {
            line->setText(words);
            for (int row = 0; row < std::min(list->model()->rowCount(), 10); ++row)
                if (list->model()->index(row, 0).data().toString().compare(title, Qt::CaseInsensitive) == 0)
                    return true;
            return false;
        };
        for (const Page* page : window_->studio().router.pages())
            QVERIFY2(finds("page " + page->card().title, page->card().title), qPrintable(page->card().title));
        // A title may be a play on words: the field's own word is in what it says, or in its file's name.
        for (const Example& example : examples())
            QVERIFY2(finds(QString(example.id).replace('-', ' '), example.title), qPrintable(example.id));
        QVERIFY(finds("disaggregated", "Prompts here, tokens there"));
        for (const LessonHead& lesson : shippedLessons()) {
            const QString title = QString::fromStdString(lesson.title);
            QVERIFY2(finds(title, title) && finds("lesson " + title, title), qPrintable(title));
        }
        int kinds[4] = {};
        for (const ui::PaletteEntry& entry : findables(window_->studio(), [](const QString&) {})) {
            const int kind = QStringList{"Panel", "Method", "Parameter", "Handbook"}.indexOf(entry.group);
            if (kind < 0) continue;
            ++kinds[kind];
            if (kind == 3 && kinds[kind] % 7 != 0) continue;  // many, and all found in one way
            QVERIFY2(finds(entry.title, entry.title), qPrintable(entry.group + ' ' + entry.title));
        }
        for (const int count : kinds) QVERIFY(count > 10);
    }

    void aFoundParameterIsShown() {
        window_->openExample("first-light");
        QVERIFY(QTest::qWaitFor([this] { return window_->document().hardware() != nullptr; }, 20000));
        for (const ui::PaletteEntry& entry : findables(window_->studio(), [](const QString&) {})) {
            if (entry.group == "Parameter" && entry.title == "bandwidth") entry.run();
            if (entry.group == "Method" && entry.detail.startsWith("interval-analysis ")) entry.run();
        }
        const ComponentPath shown = window_->components().current();
        QVERIFY(componentAt(window_->document().hardware()->root, shown)->find("bandwidth"));
        QVERIFY(window_->docks().dock("inspector")->isVisible());
        QVERIFY(std::ranges::count(window_->document().state()->methods, "interval-analysis") == 1);
        QVERIFY(window_->docks().dock("comparison")->isVisible());
    }

private:
    static QString fileOf(const ui::HandbookView& view) { return view.book().pages()[std::size_t(view.page())].file; }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
};

QTEST_MAIN(TestStudioHandbook)
#include "tst_studio_handbook.moc"
