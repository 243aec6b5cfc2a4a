#pragma once

// The studio with the explore page: its controls by name, a search that is started and waited for.

#include "app/window/explore/explore_form.h"
#include "app/window/explore/explore_page.h"
#include "support/page_window.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/history_plot.h"
#include "widgets/exploration/parallel_plot.h"

#include <QComboBox>

namespace orrery::app::test {

class ExploreTest : public PageTest<ExplorePage> {
protected:
    void front() {
        window_->studio().router.show(page_);
        QVERIFY(QTest::qWaitFor([this] { return page_->isVisible() && page_->form(); }));
        QTest::qWait(50);
    }
    /// The small project with this search, ready to be started.
    void ready(SearchSettings search, Project project = smallProject()) {
        project.search = std::move(search);
        window_->document().reset(std::move(project));
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
    }
    void start() { ready({{{"batch", {"1", "8"}, {}}}, {"time", "energy"}, {}, "roofline"}); }
    void search() {
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QTRY_VERIFY(page_->parallel()->data() == page_->view()->parallel && !page_->history()->curves().empty());
        QTRY_VERIFY(page_->refused()->model()->rowCount() == static_cast<int>(page_->view()->refused.size()));
    }
    /// Rows that were replaced may not have gone yet.
    template <class Control>
    Control* newest(const char* name) const {
        const auto all = page_->form()->findChildren<Control*>(name);
        return all.isEmpty() ? nullptr : all.last();
    }
    int entryOf(const char* box, const QString& text) const {
        const auto* combo = page_->form()->findChild<QComboBox*>(box);
        for (int i = 0; i < combo->count(); ++i)
            if (combo->itemText(i).startsWith(text)) return i;
        return -1;
    }
    void choose(const char* box, const QString& text) {
        auto* combo = page_->form()->findChild<QComboBox*>(box);
        const int at = entryOf(box, text);
        QVERIFY2(at >= 0, qPrintable(text));
        combo->setCurrentIndex(at);
        emit combo->activated(at);
    }
    void add(const char* path) { choose("explore.add", QLatin1String(path) + QLatin1Char(' ')); }
    QPushButton* go() const { return button("explore.go"); }
};

}  // namespace orrery::app::test
