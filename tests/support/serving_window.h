#pragma once

// The studio with the serving page in front.

#include "app/window/main_window.h"
#include "app/window/serving/serving_page.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"

#include <QTabWidget>
#include <QTemporaryDir>

#include <memory>
#include <optional>

namespace orrery::app::test {

class ServingWindow {
public:
    /// Opens the small project, with a question about serving if one is given, and waits for the first answer.
    bool open(std::optional<ServingStudy> question = {}) {
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
        window = std::make_unique<MainWindow>();
        window->resize(1600, 1000);
        window->show();
        if (!QTest::qWaitFor([this] { return window->isReady(); })) return false;
        ui::Theme::instance().setAnimated(false);
        Project project = smallProject();
        project.serving = std::move(question);
        window->document().reset(std::move(project));
        page = window->findChild<ServingPage*>();
        if (!page) return false;
        window->findChild<QTabWidget*>(QStringLiteral("documents"))
            ->setCurrentWidget(page->parentWidget()->parentWidget());
        return answered();
    }
    bool answered() {
        return QTest::qWaitFor([this] { return !page->isBusy() && !page->runs().empty(); }, 60000);
    }
    static ServingStudy shortQuestion() {
        ServingStudy question = ServingPage::usualQuestion();
        question.traffic.requests = 150;
        return question;
    }

    std::unique_ptr<MainWindow> window;
    ServingPage* page = nullptr;

private:
    QTemporaryDir home_;
};

}  // namespace orrery::app::test
