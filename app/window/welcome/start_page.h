#pragma once

#include "app/window/page.h"
#include "app/window/welcome/example_pictures.h"

namespace orrery::ui {
class WelcomePage;
}

namespace orrery::app {

/// The first page: the gallery of examples with their pictures, recent projects, a blank sheet.
class StartPage : public Page {
    Q_OBJECT
public:
    StartPage(Studio& studio, QWidget* parent);
    PageCard card() const override;
    void join(Studio& studio) override;
    std::vector<MenuPart> menus() override;
    std::vector<ui::PaletteEntry> findable() override;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void fill();
    void fillExamples(QMenu* menu);
    void fillRecent(QMenu* menu);

    Studio& studio_;
    ui::WelcomePage* view_;
    ExamplePictures pictures_;
    bool ready_ = false;  ///< the window stands: pictures may be made
};

}  // namespace orrery::app
